# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""`drop` takes a patch out of the tree and of patches/, and numbers the others anew."""

import pytest
from small_project import Project, numbered

from overlay import edits, tree
from overlay.errors import OverlayError, UsageError
from overlay.export import export


def three(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    project.add_patch("second", {"b.py": "one\n"})
    project.add_patch("third", {"a.py": numbered(line_3="drei")})
    project.apply()


def test_the_rest_is_numbered_anew(project: Project) -> None:
    three(project)
    assert edits.drop(["second"], project.pin, project.workspace).files == ["0002-second.patch"]
    assert sorted(project.patch_files()) == ["0001-first.patch", "0002-third.patch", "series"]
    assert (project.tree / "b.py").read_text() == "one\ntwo\nthree\n"
    assert not export(project.pin, project.workspace, check=True).stale
    assert not tree.apply_series(project.pin, project.workspace).moved


def test_needed_by_another(project: Project) -> None:
    three(project)
    before, patches = project.state(), project.patch_files()
    with pytest.raises(OverlayError, match="third needs what would be dropped"):
        edits.drop(["first"], project.pin, project.workspace)
    assert (project.state(), project.patch_files()) == (before, patches)
    edits.drop(["0003-third.patch", "first"], project.pin, project.workspace)
    assert sorted(project.patch_files()) == ["0001-second.patch", "series"]


def test_named_in_depends(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    project.add_patch("second", {"b.py": "one\n"}, Depends="first")
    project.apply()
    with pytest.raises(OverlayError, match=r"second needs .* \(depends on first\)"):
        edits.drop(["first"], project.pin, project.workspace)


def test_the_last_one(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    project.apply()
    edits.drop(["first"], project.pin, project.workspace)
    assert list(project.patch_files()) == ["series"]
    assert project.git("status", "--porcelain") == ""


def test_named_twice(project: Project) -> None:
    three(project)
    names = ["second", "0002-second.patch"]
    assert edits.drop(names, project.pin, project.workspace).files == ["0002-second.patch"]


def test_unknown_name(project: Project) -> None:
    three(project)
    with pytest.raises(UsageError, match="no patch has the name thrid: is it third"):
        edits.drop(["thrid"], project.pin, project.workspace)
