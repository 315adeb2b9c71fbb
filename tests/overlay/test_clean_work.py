# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""`clean` shows what .work holds, and removes it unless something would be lost."""

import fcntl

import pytest
from small_project import Project, numbered

from overlay.clean import clean, contents
from overlay.errors import OverlayError


def test_listed_then_gone(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    project.apply()
    (project.workspace.work / "build").mkdir()
    (project.workspace.work / "build" / "big").write_bytes(b"x" * 5_000_000)
    items = contents(project.workspace)
    assert [item.name for item in items] == ["build", "vllm"]
    assert 5_000_000 <= items[0].size < 5_100_000
    assert clean(project.pin, project.workspace) == items
    assert [path.name for path in project.workspace.work.iterdir()] == ["lock"]
    project.apply()
    assert project.tree_id() == project.model_id()


def test_nothing_there(project: Project) -> None:
    assert contents(project.workspace) == []
    assert clean(project.pin, project.workspace) == []


def test_unexported_work_stays(project: Project) -> None:
    project.apply_nothing()
    (project.tree / "b.py").write_text("one\n")
    project.git("commit", "-q", "-a", "-m", "b: cut")
    before = project.state()
    with pytest.raises(OverlayError, match=r"apply_patches\.py export"):
        clean(project.pin, project.workspace)
    assert project.state() == before


def test_a_build_that_runs_is_left_alone(project: Project) -> None:
    project.apply()
    with (project.workspace.work / "build.lock").open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        with pytest.raises(OverlayError, match=r"build\.lock: is held by a run"):
            clean(project.pin, project.workspace)
    assert project.tree.is_dir()
