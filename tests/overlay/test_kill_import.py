# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Killed at any moment of the import, there is no tree or a whole one; the next apply makes it."""

import shutil

from killing import killed_at, moments
from small_project import Project, numbered


def test_next_apply_imports(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    project.apply()
    wanted = project.state()

    def reset() -> None:
        shutil.rmtree(project.workspace.work)

    reset()
    for moment in moments(30, project.apply, reset):
        killed_at(moment, project.apply)
        project.apply()
        assert project.state() == wanted, moment
        assert sorted(path.name for path in project.workspace.work.iterdir()) == ["lock", "vllm"]
        reset()
