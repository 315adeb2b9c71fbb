# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A hunk whose context differs in one line is refused, though `patch` would take it with fuzz."""

from small_project import Project, numbered


def test_no_fuzz(project: Project) -> None:
    project.add_patch("context", {"a.py": numbered(line_12="twelve")})
    file = project.add_patch("nine", {"a.py": numbered(line_9="9", line_12="twelve")})
    project.edit(file, " twelve\n", " line 12\n")
    assert "line 12: expected 'line 12', found 'twelve'" in project.refusal(file, "a.py")
