# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""`new` makes an empty commit that export refuses until it changes something."""

import pytest
from small_project import Project, numbered

from overlay import edits
from overlay.errors import OverlayError, UsageError
from overlay.export import export
from overlay.lint import lint


def test_amended_then_exported(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    project.apply()
    before = project.files()
    edits.new("second-one", project.pin, project.workspace)
    assert project.files() == before
    with pytest.raises(OverlayError, match=r"second-one: .* changes nothing: amend it"):
        export(project.pin, project.workspace)
    (project.tree / "b.py").write_text("one\n")
    project.git("commit", "-q", "-a", "--amend", "--no-edit")
    assert export(project.pin, project.workspace).new == ("0002-second-one.patch",)
    faults = [fault for fault in lint(project.workspace) if fault.startswith("0002")]
    empty = ("Description", "Origin", "Author", "Kind", "Retires-When", "Test")
    for field in empty:
        assert any(f": {field}: is empty" in fault for fault in faults), field


@pytest.mark.parametrize("name", ["Second", "two words", "a--b", "", "-x", "../x"])
def test_not_a_name(project: Project, name: str) -> None:
    project.apply_nothing()
    before = project.state()
    with pytest.raises(UsageError, match="a name is small letters"):
        edits.new(name, project.pin, project.workspace)
    assert project.state() == before


def test_name_is_taken(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    project.apply()
    before = project.state()
    with pytest.raises(OverlayError, match="there is a patch first already"):
        edits.new("first", project.pin, project.workspace)
    assert project.state() == before


def test_dirty_tree(project: Project) -> None:
    project.apply_nothing()
    (project.tree / "b.py").write_text("one\n")
    with pytest.raises(OverlayError, match=r"in no commit \(b\.py\)"):
        edits.new("first", project.pin, project.workspace)
