# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The same patches give the same commits, whatever was applied in between."""

from small_project import Project, numbered

from overlay.tree import unapply


def test_commits_are_deterministic(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="three")})
    first = project.apply()
    assert unapply(project.pin, project.workspace)
    assert project.apply() == first
    assert project.git("log", "-1", "--format=%an %ae %ad", "--date=short").strip() == (
        "A. Person person@example.com 2026-02-03"
    )
