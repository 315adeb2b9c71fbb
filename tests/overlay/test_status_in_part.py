# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A patch of which one hunk was put in by hand is partial; apply refuses the tree."""

from small_project import Project, numbered

from overlay.status import PatchStatus, status


def test_partial(project: Project) -> None:
    file = project.add_patch("both", {"a.py": numbered(line_3="3", line_25="25")})
    project.apply_nothing()
    (project.tree / "a.py").write_text(numbered(line_3="3"))
    found = status(project.pin, project.workspace)
    assert found.state == "partial"
    assert found.patches == (PatchStatus(file, "in part: 1 of 2 hunks are in the work tree"),)
    assert "in no commit (a.py)" in project.refusal()
