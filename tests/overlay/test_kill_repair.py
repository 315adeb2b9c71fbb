# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The repair of a killed run may be killed as well: the one after it ends right."""

import shutil

from killing import kills
from small_project import Project, numbered

from overlay.tree import unapply


def test_third_run_ends_right(project: Project) -> None:
    project.apply_nothing()
    project.add_patch("first", {"a.py": numbered(line_3="3"), "deep/new.py": "x\n", "b.py": None})
    pristine = project.root / "pristine"
    shutil.copytree(project.tree, pristine)
    half_done = project.root / "half-done"

    def back() -> None:
        shutil.rmtree(project.tree)
        shutil.copytree(pristine, project.tree)

    def half_back() -> None:
        shutil.rmtree(project.tree)
        shutil.copytree(half_done, project.tree)

    project.apply()
    wanted = project.state()
    unapply(project.pin, project.workspace)
    for first in kills("apply", project.apply, back, 6, 3):
        shutil.copytree(project.tree, half_done)
        for second in kills("repair", project.apply, half_back, 5, 2):
            project.apply()
            assert project.state() == wanted, (first, second)
        shutil.rmtree(half_done)
