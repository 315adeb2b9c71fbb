# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A patch with LF for a file with CRLF is refused, and the message says so."""

from small_project import Project


def test_line_ends_are_named(project: Project) -> None:
    file = project.add_patch("dos", {"dos.bat": b"rem one\r\nrem 2\r\nrem three\r\n"})
    project.edit(file, b"\r\n", b"\n")
    assert "line ends: the patch has LF, the file CRLF" in project.refusal(file, "dos.bat")
