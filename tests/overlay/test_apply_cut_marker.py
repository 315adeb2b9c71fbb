# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A patch cut before its last 'No newline' marker is refused: its result is another file."""

from small_project import Project


def test_the_result_is_checked(project: Project) -> None:
    file = project.add_patch("end", {"noeol.txt": "first\nend"})
    path = project.patches / file
    path.write_bytes(path.read_bytes().removesuffix(b"\\ No newline at end of file\n"))
    assert "cut short or was edited by hand" in project.refusal(file, "noeol.txt")
