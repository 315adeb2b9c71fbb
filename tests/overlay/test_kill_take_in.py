# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Killed at any moment of import, the foreign patch is a commit or is not; again ends right."""

from killing import kills, resetting
from small_project import Project, numbered

from overlay.edits import take_in
from overlay.export import export
from overlay.status import status


def test_next_run_ends_right(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    project.apply()
    project.commit_model({"b.py": None, "deep/new.py": "x\n"}, "foreign")
    file = project.root / "foreign.diff"
    file.write_bytes(project.model_git("diff", "--no-renames", "HEAD~1", "HEAD"))
    reset = resetting(project.workspace.root, project.root / "kept")

    def work() -> None:
        take_in(file, "foreign", project.pin, project.workspace)

    for moment in kills("import of a patch", work, reset, 20, 10):
        state = status(project.pin, project.workspace).state
        assert state in ("applied", "unexported"), moment
        if state == "applied":
            work()
        assert project.git("status", "--porcelain", "--ignored") == "", moment
        assert project.tree_id() == project.model_id(), moment
        assert export(project.pin, project.workspace).new == ("0002-foreign.patch",), moment
