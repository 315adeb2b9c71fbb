# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""When a patch's second file does not fit, its first is not left patched."""

from small_project import Project, numbered


def test_first_file_is_as_it_was(project: Project) -> None:
    file = project.add_patch("two-files", {"a.py": numbered(line_9="9"), "b.py": "one\n2\nthree\n"})
    project.edit(file, "-two", "-too")
    assert "hunk 1: does not fit" in project.refusal(file, "b.py")
    assert not list(project.tree.rglob("*.rej")) + list(project.tree.rglob("*.orig"))
