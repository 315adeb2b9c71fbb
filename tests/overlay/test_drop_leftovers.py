# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What a dropped patch leaves behind is named, and the way back that is told is one."""

import subprocess

import pytest
from small_project import Project, numbered

from overlay import edits
from overlay.commands import drop

LOCK = """\
a/b#1: {kind: issue, state: open, looked-at: 2026-02-03}
a/b#2: {kind: issue, state: open, looked-at: 2026-02-03}
"""


def two(project: Project) -> None:
    tests = project.workspace.root / "tests" / "patches"
    tests.mkdir(parents=True)
    for name in ("test_one.py", "test_both.py"):
        (tests / name).touch()
    both = "tests/patches/test_both.py"
    project.add_patch(
        "first",
        {"a.py": numbered(line_3="3")},
        Test=f"tests/patches/test_one.py::test_it\n{both}\ntests/patches/test_gone.py",
        Bug="a/b#1, a/b#2",
    )
    project.add_patch("second", {"b.py": "one\n"}, Test=both, Bug="a/b#2")
    (project.patches / "upstream.yaml").write_text(LOCK)
    project.apply()


def test_what_no_other_patch_names(project: Project) -> None:
    two(project)
    assert edits.drop(["first"], project.pin, project.workspace).left == [
        "tests/patches/test_one.py: no patch names it any more",
        "patches/upstream.yaml: a/b#1: no patch names it any more",
    ]


def test_nothing_is_left(project: Project) -> None:
    two(project)
    assert edits.drop(["second"], project.pin, project.workspace).left == []


def test_the_way_back(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    two(project)
    before = project.patch_files()
    root = project.workspace.root
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.com"]
    for command in (["init", "-q"], ["add", "patches"], ["commit", "-q", "-m", "all"]):
        subprocess.run([*git, *command], cwd=root, check=True)
    edits.drop(["first"], project.pin, project.workspace)
    assert project.patch_files() != before
    back = [line.strip() for line in drop.BACK.splitlines()[1:]]
    assert back[1] == "./apply_patches.py apply"
    subprocess.run(back[0], shell=True, cwd=root, check=True)
    project.apply()
    assert project.patch_files() == before
    assert project.tree_id() == project.model_id()
