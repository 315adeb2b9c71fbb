# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Unapplying gives back the pristine source."""

from small_project import Project, numbered

from overlay.tree import unapply


def test_unapply_is_the_inverse(project: Project) -> None:
    project.apply_nothing()
    before = project.files()
    project.add_patch(
        "first", {"a.py": numbered(line_3="3"), "deep/er/new.py": "x\n", "b.py": None}
    )
    project.apply()
    assert unapply(project.pin, project.workspace)
    assert project.files() == before
    assert not (project.tree / "deep").exists()
    assert not unapply(project.pin, project.workspace)
