# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Killed with git while it deletes a reference, the lock it left does not stop the next run."""

import os
import shutil
import signal
from pathlib import Path

import pytest
from small_project import BASE, Project

from overlay.errors import OverlayError
from overlay.review import review

# A git that locks the packed references as `update-ref -d` does, and dies there with its caller.
_DYING_GIT = """\
#!/bin/sh
case "$*" in
*"update-ref -d"*) : > "${1#--git-dir=}/packed-refs.lock"; kill -KILL $PPID $$ ;;
esac
exec %s "$@"
"""


def _review(project: Project) -> None:
    review(["0.33.0"], project.pin, project.workspace)


def test_lock_of_the_killed_is_removed(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.add_version("0.33.0", BASE)
    project.apply()
    state = project.state()
    git = tmp_path / "bin" / "git"
    git.parent.mkdir()
    git.write_text(_DYING_GIT % shutil.which("git"))
    git.chmod(0o755)
    child = os.fork()
    if child == 0:
        monkeypatch.setenv("PATH", str(git.parent), prepend=os.pathsep)
        _review(project)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    assert (project.tree / ".git" / "packed-refs.lock").exists()
    _review(project)
    assert project.state() == state


def test_lock_of_a_person_is_kept(project: Project) -> None:
    project.add_version("0.33.0", BASE)
    project.apply()
    lock = project.tree / ".git" / "packed-refs.lock"
    lock.touch()
    for _ in range(2):
        with pytest.raises(OverlayError, match=r"packed-refs\.lock"):
            _review(project)
        assert lock.exists()
    lock.unlink()
    _review(project)
