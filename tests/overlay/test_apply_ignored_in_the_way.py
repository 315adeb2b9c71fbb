# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""An ignored file that stands where a patch adds one is refused, and kept."""

from small_project import Project


def test_the_file_is_named(project: Project) -> None:
    project.add_patch("new", {"build/out.py": "x\n"})
    project.apply_nothing()
    (project.tree / "build").mkdir()
    (project.tree / "build/out.py").write_text("mine\n")
    assert "build/out.py is in the way of build/out.py" in project.refusal()
