# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Killed at any moment of apply, the branch is the old or the new; the next apply puts it right."""

from killing import kills, resetting
from small_project import Project, numbered

from overlay.git import Git


def test_next_apply_repairs(project: Project) -> None:
    project.apply_nothing()
    project.add_patch("first", {"a.py": numbered(line_3="3"), "deep/new.py": "x\n", "b.py": None})
    project.add_patch("second", {"a.py": numbered(line_3="3", line_20="20")})
    kept = project.root / "kept"
    reset = resetting(project.tree, kept)

    project.apply()
    wanted = project.state()
    assert project.tree_id() == project.model_id()
    heads = {Git(kept).text("rev-parse", "HEAD"), Git(project.tree).text("rev-parse", "HEAD")}
    reset()
    for moment in kills("apply", project.apply, reset, 40, 30):
        assert Git(project.tree).text("rev-parse", "HEAD") in heads, moment
        project.apply()
        assert project.state() == wanted, moment
