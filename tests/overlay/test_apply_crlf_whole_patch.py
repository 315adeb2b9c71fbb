# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A patch file saved with CRLF altogether is refused at its first line."""

from small_project import Project


def test_the_line_is_named(project: Project) -> None:
    file = project.add_patch("unix", {"b.py": "one\n2\nthree\n"})
    path = project.patches / file
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert project.refusal() == f"{file}:1: the line ends in CRLF: save the patch with LF"
