# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Files without a last newline are patched exactly: newline added, taken, and lines around it."""

from small_project import Project


def test_contents_are_the_models(project: Project) -> None:
    for number, content in enumerate(["first\nlast\n", "first\nlast", "first\nlast\nmore", ""], 1):
        project.add_patch(f"step-{number}", {"noeol.txt": content})
    series = project.apply()
    for back, patch in enumerate(reversed(series.patches)):
        assert project.tree_id(patch.commit) == project.model_id(f"HEAD~{back}")
