# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Killed at any moment of the import, there is no tree or a whole one; the next apply makes it."""

import shutil

from killing import kills
from small_project import Project, numbered

from overlay.git import Git
from overlay.tree import apply_series


def test_next_apply_imports(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    project.apply()
    wanted = project.state()

    def reset() -> None:
        shutil.rmtree(project.workspace.work)

    reset()
    for moment in kills("import", project.apply, reset, 24, 20):
        project.apply()
        assert project.state() == wanted, moment
        assert {path.name for path in project.workspace.work.iterdir()} == {"lock", "vllm"}


def test_the_tree_that_is_replaced_stays_until_then(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    project.apply()
    wanted = project.state()
    kept = project.root / "kept"
    shutil.copytree(project.tree, kept)

    def work() -> None:
        apply_series(project.pin, project.workspace, anew=True)

    def reset() -> None:
        shutil.rmtree(project.workspace.work)
        project.workspace.work.mkdir()
        shutil.copytree(kept, project.tree)

    for moment in kills("import anew", work, reset, 16, 10):
        trees = [project.tree, project.workspace.work / "vllm.old"]
        assert any(Git(tree).resolve("HEAD") for tree in trees if tree.exists()), moment
        project.apply()
        assert project.state() == wanted, moment
        assert {path.name for path in project.workspace.work.iterdir()} == {"lock", "vllm"}
