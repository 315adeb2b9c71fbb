# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Killed at any moment of unapply, the next unapply puts it right."""

from killing import kills, resetting
from small_project import Project, numbered

from overlay.tree import unapply


def test_next_unapply_repairs(project: Project) -> None:
    project.apply_nothing()
    wanted = project.state()
    project.add_patch("first", {"a.py": numbered(line_3="3"), "deep/new.py": "x\n", "b.py": None})
    project.apply()
    reset = resetting(project.tree, project.root / "kept")

    def work() -> None:
        unapply(project.pin, project.workspace)

    for moment in kills("unapply", work, reset, 20, 20):
        work()
        assert project.state() == wanted, moment
