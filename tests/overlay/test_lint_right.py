# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A series that is right has no fault."""

from small_project import Project, numbered

from overlay.lint import lint


def with_test(project: Project) -> None:
    folder = project.workspace.root / "tests" / "patches"
    folder.mkdir(parents=True)
    (folder / "test_something.py").write_text("def test_it():\n    pass\n")


def test_no_fault(project: Project) -> None:
    with_test(project)
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    project.add_patch("second", {"b.py": "one\n"}, Depends="first")
    assert lint(project.workspace) == []
