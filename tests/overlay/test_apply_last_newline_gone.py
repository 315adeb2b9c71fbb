# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A patch file whose last newline is gone is refused: an editor may have cut more than that."""

from small_project import Project


def test_the_last_line_is_named(project: Project) -> None:
    file = project.add_patch("two", {"b.py": "one\n2\nthree\n"})
    path = project.patches / file
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    lines = len(path.read_bytes().split(b"\n"))
    message = project.refusal(file)
    assert message == f"{file}:{lines}: the last line has no newline: the patch is cut short"
