# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A patch whose change an earlier patch has made already is refused, saying so."""

from small_project import Project, numbered


def test_it_is_said(project: Project) -> None:
    project.add_patch("nine", {"a.py": numbered(line_9="9\nand a half")})
    patch = (project.patches / "0001-nine.patch").read_bytes()
    file = project.add_file("again", patch)
    message = project.refusal(file, "a.py")
    assert "is in the tree already, at line 6" in message
