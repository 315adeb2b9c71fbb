# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The message of a hunk that does not fit says what was expected and what is there."""

from small_project import Project, numbered


def test_expected_and_found(project: Project) -> None:
    file = project.add_patch("nine", {"a.py": numbered(line_9="9")})
    project.edit(file, " line 7\n", " line seven\n")
    message = project.refusal()
    assert message == (
        f"{file}:17: a.py: hunk 1: does not fit: line 7: expected 'line seven', found 'line 7'"
    )
