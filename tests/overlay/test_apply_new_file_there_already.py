# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A new file that is in the tree with the same content is refused, saying so."""

from small_project import Project


def test_it_is_said(project: Project) -> None:
    project.add_patch("new", {"new.py": "x\n"})
    file = project.add_file("again", project.patch_bytes())
    assert "with the same content: the patch is in the tree already" in project.refusal(
        file, "new.py"
    )
