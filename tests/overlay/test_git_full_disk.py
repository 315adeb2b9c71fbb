# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A git command that fails says one line: git's first, or that the disk is full."""

import shutil
from collections import namedtuple

import pytest
from small_project import Project

from overlay.errors import OverlayError
from overlay.git import Git

Usage = namedtuple("Usage", "total used free")


def test_gits_own_line(project: Project) -> None:
    project.apply_nothing()
    with pytest.raises(OverlayError, match=r"git cat-file failed in .*: fatal: .*nothing.*$"):
        Git(project.tree).run("cat-file", "blob", "HEAD:nothing")


def test_full_disk(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.apply_nothing()
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(100, 100, 0))
    with pytest.raises(OverlayError, match=r"no space left on the disk of .*/vllm: make room"):
        Git(project.tree).run("cat-file", "blob", "HEAD:nothing")
