# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The source's own .gitattributes do not rewrite files."""

from small_project import BASE, Project


def test_bytes_stay(project: Project) -> None:
    content = b"* text=auto eol=crlf\n*.py ident\n"
    project.add_patch("attributes", {".gitattributes": content, "c.py": "# $Id$\n"})
    project.add_patch("dos", {"dos.bat": b"rem 1\r\n"})
    project.apply()
    assert (project.tree / "dos.bat").read_bytes() == b"rem 1\r\n"
    assert (project.tree / "c.py").read_bytes() == b"# $Id$\n"
    assert (project.tree / "b.py").read_text() == BASE["b.py"]
    assert project.git("status", "--porcelain") == ""
