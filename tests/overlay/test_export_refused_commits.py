# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Commits that cannot be patches are refused by their id: merges, empty and binary ones, twins."""

import pytest
from small_project import Project

from overlay.errors import OverlayError
from overlay.export import export


def merge(project: Project) -> None:
    project.git("switch", "-q", "-c", "side")
    project.git("commit", "-q", "--allow-empty", "-m", "side")
    project.git("switch", "-q", "main")
    project.git("merge", "-q", "--no-ff", "-m", "merged", "side")


def empty(project: Project) -> None:
    project.git("commit", "-q", "--allow-empty", "-m", "nothing: at all")


def binary(project: Project) -> None:
    (project.tree / "x.png").write_bytes(b"\0\1")
    project.git("add", "x.png")
    project.git("commit", "-q", "-m", "image: add")


def same_name(project: Project) -> None:
    for text in ("1\n", "2\n"):
        (project.tree / "b.py").write_text(text)
        project.git("commit", "-q", "-a", "-m", "same: name")


def foreign(project: Project) -> None:
    project.git("checkout", "-q", "--orphan", "other")
    project.git("commit", "-q", "-m", "unrelated")
    project.git("branch", "-f", "main", "other")
    project.git("switch", "-q", "main")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (merge, "without merges"),
        (empty, "changes nothing: amend it"),
        (binary, "a binary patch"),
        (same_name, "both have the name same"),
        (foreign, "does not follow"),
    ],
)
def test_it_is_refused(project: Project, make, words: str) -> None:
    project.apply_nothing()
    make(project)
    before = project.patch_files()
    with pytest.raises(OverlayError, match=words):
        export(project.pin, project.workspace)
    assert project.patch_files() == before
