# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A patch with CRLF in its hunks for a file with LF is refused, and the message says so."""

from small_project import Project


def test_line_ends_are_named(project: Project) -> None:
    file = project.add_patch("unix", {"b.py": "one\n2\nthree\n"})
    for line in ("-two", "+2", " one", " three"):
        project.edit(file, f"\n{line}\n", f"\n{line}\r\n")
    assert "line ends: the patch has CRLF, the file LF" in project.refusal(file, "b.py")
