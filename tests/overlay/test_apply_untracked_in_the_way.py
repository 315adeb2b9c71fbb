# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""An untracked file makes the tree dirty: apply refuses and names it."""

from small_project import Project


def test_the_file_is_named(project: Project) -> None:
    project.add_patch("new", {"new.py": "x\n"})
    project.apply_nothing()
    (project.tree / "new.py").write_text("mine\n")
    assert "changes that are in no commit (new.py)" in project.refusal()
