# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Killed at any moment, also in the middle of adding its work tree, the next bisect is right."""

import sys

from killing import kills, resetting
from small_project import Project, numbered

from overlay.bisect import Culprit, bisect
from overlay.git import Git


def _two(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    project.add_patch("second", {"b.py": "one\n"})
    project.apply()


def _bisect(project: Project) -> Culprit:
    script = "import sys; sys.exit(open('b.py').read() == 'one\\n')"
    command = [sys.executable, "-ISc", script]
    return bisect(command, project.pin, project.workspace, say=lambda text: None)


def test_next_bisect_is_right(project: Project) -> None:
    _two(project)
    state = project.state()
    reset = resetting(project.workspace.root, project.root / "kept")

    for moment in kills("bisect", lambda: _bisect(project), reset, 20, 8):
        assert _bisect(project).name == "second", moment
        assert project.state() == state, moment


def test_work_tree_half_added(project: Project) -> None:
    _two(project)
    folder = project.workspace.work / "bisect" / "vllm"
    folder.parent.mkdir()
    git = Git(project.tree)
    git.run("worktree", "add", "--quiet", "--detach", str(folder), "HEAD")
    (git.dir / "worktrees" / "vllm" / "locked").write_text("initializing")
    assert _bisect(project).name == "second"
