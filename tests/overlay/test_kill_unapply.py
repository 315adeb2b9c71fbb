# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Killed at any moment of unapply, the next unapply puts it right."""

import shutil

from killing import kills
from small_project import Project, numbered

from overlay.tree import unapply


def test_next_unapply_repairs(project: Project) -> None:
    project.apply_nothing()
    wanted = project.state()
    project.add_patch("first", {"a.py": numbered(line_3="3"), "deep/new.py": "x\n", "b.py": None})
    project.apply()
    kept = project.root / "kept"
    shutil.copytree(project.tree, kept)

    def work() -> None:
        unapply(project.pin, project.workspace)

    def reset() -> None:
        shutil.rmtree(project.tree)
        shutil.copytree(kept, project.tree)

    for moment in kills("unapply", work, reset, 20, 20):
        work()
        assert project.state() == wanted, moment
