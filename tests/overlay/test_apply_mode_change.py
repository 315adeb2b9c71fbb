# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A patch may change the executable bit, alone or with a file's lines."""

from small_project import Project, numbered


def test_modes_are_the_models(project: Project) -> None:
    (project.model / "b.py").chmod(0o755)
    project.add_patch("exec", {})
    (project.model / "a.py").chmod(0o755)
    project.add_patch("both", {"a.py": numbered(line_9="9")})
    (project.model / "b.py").chmod(0o644)
    project.add_patch("back", {})
    project.apply()
    assert project.tree_id() == project.model_id()
    assert (project.tree / "a.py").stat().st_mode & 0o111
