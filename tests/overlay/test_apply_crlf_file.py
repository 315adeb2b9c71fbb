# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A file with CRLF is imported, patched and exported byte for byte."""

from small_project import Project

from overlay.export import export

PATCHED = b"rem one\r\nrem 2\r\nrem three\r\n"


def test_line_ends_stay(project: Project) -> None:
    file = project.add_patch("dos", {"dos.bat": PATCHED})
    project.apply()
    assert (project.tree / "dos.bat").read_bytes() == PATCHED
    assert export(project.pin, project.workspace).same == (file,)
