# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Empty files can be added, filled, emptied and deleted."""

from small_project import Project


def test_trees_are_the_models(project: Project) -> None:
    for number, content in enumerate(["", "text\n", "", None], 1):
        project.add_patch(f"step-{number}", {"empty.py": content})
    series = project.apply()
    for back, patch in enumerate(reversed(series.patches)):
        assert project.tree_id(patch.commit) == project.model_id(f"HEAD~{back}")
