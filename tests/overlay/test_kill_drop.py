# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Killed at any moment of drop, tree and patches/ are the old or the new, together."""

from killing import kills, resetting
from small_project import Project, numbered

from overlay.edits import drop


def test_next_run_ends_right(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    project.add_patch("second", {"b.py": None, "deep/new.py": "x\n"})
    project.add_patch("third", {"a.py": numbered(line_3="3", line_25="25")})
    project.apply()
    reset = resetting(project.workspace.root, project.root / "kept")

    def work() -> None:
        drop(["second"], project.pin, project.workspace)

    def both() -> tuple[dict[str, object], dict[str, bytes]]:
        return project.state(), project.patch_files()

    old = both()
    work()
    new = both()
    assert len(new[1]) == len(old[1]) - 1
    reset()
    for moment in kills("drop", work, reset, 25, 12):
        project.apply()
        found = both()
        assert found in (old, new), moment
        if found == old:
            work()
        assert both() == new, moment
