# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Where the file system cannot exchange two folders, export replaces the folder in two steps."""

import ctypes
import errno

import pytest
from small_project import Project

from overlay import swap
from overlay.export import export


class NoExchange:
    """A C library whose renameat2 does not know the flag."""

    @staticmethod
    def renameat2(*arguments: object) -> int:
        ctypes.set_errno(errno.EINVAL)
        return -1


def test_files_are_the_new(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.apply_nothing()
    (project.tree / "b.py").write_text("two\n")
    project.git("commit", "-q", "-a", "-m", "second: b")
    monkeypatch.setattr(swap.ctypes, "CDLL", lambda *_, **__: NoExchange)
    export(project.pin, project.workspace)
    assert sorted(project.patch_files()) == ["0001-second.patch", "series"]
    assert not list(project.workspace.root.glob(".patches*"))
