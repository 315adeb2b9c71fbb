# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Another version's tree is imported once, beside the pinned one, which is not touched."""

from __future__ import annotations

import shutil

import pytest
from small_project import BASE, Project

from overlay.errors import UsageError
from overlay.git import Git
from overlay.paths import cache_dir
from overlay.versions import pristine

NEXT = {**BASE, "b.py": "one\ntwo\nfour\n", "new.py": "x = 1\n"}


def test_tree_beside_the_pinned_one(project: Project) -> None:
    project.add_version("0.33.0", NEXT)
    project.add_patch("first", {"b.py": "one\nTWO\nthree\n"})
    project.apply()
    before = project.state()
    git = Git(project.tree)
    found = pristine(git, "0.33.0", project.pin)
    assert found.pinned
    assert git.blob(found.commit, "b.py") == b"one\ntwo\nfour\n"
    assert git.blob(found.commit, "new.py") == b"x = 1\n"
    assert project.state() == before


def test_imported_once(project: Project) -> None:
    project.add_version("0.33.0", NEXT)
    project.apply()
    git = Git(project.tree)
    found = pristine(git, "0.33.0", project.pin)
    shutil.rmtree(cache_dir())
    assert pristine(git, "0.33.0", project.pin) == found


def test_another_hash_in_the_pin_imports_again(project: Project) -> None:
    project.add_version("0.33.0", BASE)
    project.apply()
    git = Git(project.tree)
    pristine(git, "0.33.0", project.pin)
    project.add_version("0.33.0", NEXT)
    found = pristine(git, "0.33.0", project.pin)
    assert git.blob(found.commit, "new.py") == b"x = 1\n"


def test_the_pinned_version_is_the_pristine_commit(project: Project) -> None:
    project.apply()
    git = Git(project.tree)
    found = pristine(git, "0.32.0", project.pin)
    assert found.commit == git.text("rev-parse", "refs/overlay/pristine")


def test_version_that_is_none(project: Project) -> None:
    project.apply()
    with pytest.raises(UsageError, match="'main' is not a version"):
        pristine(Git(project.tree), "main", project.pin)
