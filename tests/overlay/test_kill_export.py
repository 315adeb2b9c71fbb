# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Killed at any moment of export, patches/ is the old or the new; the next export ends right."""

from killing import kills, resetting
from small_project import Project, numbered

from overlay.export import export


def test_old_or_new(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    project.add_patch("second", {"a.py": numbered(line_3="3", line_20="20")})
    project.apply()
    (project.tree / "b.py").write_text("one\n")
    project.git("commit", "-q", "-a", "-m", "third: Cut b")
    reset = resetting(project.workspace.root, project.root / "kept")

    def work() -> None:
        export(project.pin, project.workspace)

    old = project.patch_files()
    work()
    new = project.patch_files()
    assert len(new) == len(old) + 1
    reset()
    for moment in kills("export", work, reset, 30, 25):
        assert project.patch_files() in (old, new), moment
        work()
        assert project.patch_files() == new, moment
        assert not list(project.workspace.root.glob(".patches*")), moment
        project.apply()
