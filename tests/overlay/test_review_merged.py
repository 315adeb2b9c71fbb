# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A patch whose context has changed, but not its lines, is merged; a person has to look at it."""

from __future__ import annotations

import re

from reviewing import reviewed
from small_project import Project, numbered


def test_context_changed(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_10="new")})
    report = reviewed(project, {"a.py": numbered(line_8="changed")})
    (found,) = report.verdicts
    assert found.outcome.value == "merged 3-way"
    words = "a.py: hunk 1: does not fit: line 8: expected 'line 8', found 'changed'"
    assert re.fullmatch(rf"patch line \d+: {words}", found.reason)
    assert report.needs_work


def test_those_after_find_what_was_merged(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_10="new")})
    project.add_patch("second", {"a.py": numbered(line_10="newer")})
    report = reviewed(project, {"a.py": numbered(line_7="changed")})
    assert [entry.outcome.value for entry in report.verdicts] == ["merged 3-way", "merged 3-way"]
