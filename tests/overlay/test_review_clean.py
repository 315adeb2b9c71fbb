# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A patch whose files are as they were, or have changed below it, is clean."""

from __future__ import annotations

from reviewing import reviewed
from small_project import Project, numbered


def test_clean(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="new")})
    project.add_patch("second", {"b.py": "one\n2\nthree\n", "c.py": "x = 1\n"})
    report = reviewed(project, {"a.py": numbered(line_25="changed")})
    assert [entry.outcome.value for entry in report.verdicts] == ["clean", "clean"]
    assert report.pinned
    assert not report.needs_work
