# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""When one patch of many does not fit, none of those before it stays in the tree."""

from small_project import Project, numbered


def test_the_first_three_are_not_left(project: Project) -> None:
    project.add_patch("one", {"a.py": numbered(line_1="1")})
    project.add_patch("two", {"b.py": "one\ntwo\n3\n"})
    project.add_patch("three", {"new.py": "x\n"})
    fourth = project.add_patch("four", {"pkg/mod.py": "def f():\n    return 2\n"})
    project.add_patch("five", {"a.py": numbered(line_1="1", line_30="30")})
    project.edit(fourth, "-    return 1", "-    return 7")
    assert "hunk 1: does not fit" in project.refusal(fourth, "pkg/mod.py")
