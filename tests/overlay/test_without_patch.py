# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""`apply --without` leaves a patch out with those that need it; `apply` puts them back."""

import pytest
from small_project import Project, numbered

from overlay import tree
from overlay.errors import OverlayError, UsageError
from overlay.export import export
from overlay.status import status


def four(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    project.add_patch("second", {"b.py": "one\n"})
    project.add_patch("third", {"a.py": numbered(line_3="drei")})
    project.add_patch("fourth", {"pkg/mod.py": "x\n"}, Depends="third")


def without(project: Project, *names: str) -> tree.Outcome:
    return tree.apply_series(project.pin, project.workspace, without=names)


def test_with_what_needs_it(project: Project) -> None:
    four(project)
    outcome = without(project, "first")
    assert [patch.name for patch in outcome.series.patches] == ["second"]
    assert list(outcome.left_out) == ["first", "third", "fourth"]
    assert outcome.left_out["third"].startswith("does not fit without: 0003-third.patch:")
    assert outcome.left_out["fourth"] == "depends on third"
    assert (project.tree / "a.py").read_text() == numbered()
    found = status(project.pin, project.workspace)
    assert (found.state, found.detail) == ("partial", "1 of 4 patches: apply puts on the rest")
    assert not without(project, "first").moved
    project.apply()
    assert project.tree_id() == project.model_id()


def test_export_does_not_lose_them(project: Project) -> None:
    four(project)
    without(project, "second")
    before = project.patch_files()
    with pytest.raises(OverlayError, match=r"0002-second\.patch is not in \.work/vllm"):
        export(project.pin, project.workspace)
    assert project.patch_files() == before


def test_a_fault_of_the_series_is_no_need(project: Project) -> None:
    four(project)
    file = project.add_patch("fifth", {"noeol.txt": "x\n"})
    project.edit(file, "-first", "-fist")
    with pytest.raises(OverlayError, match=r"0005-fifth\.patch:\d+: noeol\.txt"):
        without(project, "second")


def test_unknown_name(project: Project) -> None:
    four(project)
    with pytest.raises(UsageError, match="no patch has the name sixth"):
        without(project, "sixth")
