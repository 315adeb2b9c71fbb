# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A patch whose added lines were edited by hand is refused: its index line names another result."""

from small_project import Project


def test_the_result_is_checked(project: Project) -> None:
    file = project.add_patch("two", {"b.py": "one\n2\nthree\n"})
    project.edit(file, "\n+2\n", "\n+zwei\n")
    assert "the result is not the file its index line names" in project.refusal(file, "b.py")
