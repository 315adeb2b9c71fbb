# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A patch follows a file that has another path in the new version."""

from __future__ import annotations

from reviewing import reviewed
from small_project import Project, numbered


def test_moved(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_10="new")})
    project.add_patch("second", {"a.py": numbered(line_10="newer")})
    report = reviewed(project, {"a.py": None, "sub/c.py": numbered(line_25="changed")})
    assert [entry.outcome.value for entry in report.verdicts] == ["merged 3-way", "merged 3-way"]
    assert all("a.py is now sub/c.py" in entry.reason for entry in report.verdicts)
