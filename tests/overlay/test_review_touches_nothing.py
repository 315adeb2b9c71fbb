# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A review leaves branch, index and work tree as they are, edited ones too."""

from __future__ import annotations

from reviewing import reviewed
from small_project import Project, numbered


def test_unexported_and_dirty(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_10="new")})
    project.apply()
    (project.tree / "b.py").write_text("edited\n")
    project.git("commit", "-q", "-a", "-m", "Work of a person")
    (project.tree / "a.py").write_text("edited, in no commit\n")
    (project.tree / "untracked.txt").write_text("x\n")
    before, series = project.state(), project.patch_files()
    report = reviewed(project, {"a.py": numbered(line_10="changed")})
    assert report.verdicts[0].outcome.value == "conflict"
    assert project.state() == before
    assert project.patch_files() == series
