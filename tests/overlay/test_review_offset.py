# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A patch that fits at other lines is `offset`, with how far; nobody has to do anything."""

from __future__ import annotations

from reviewing import reviewed
from small_project import Project, numbered


def test_offset(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_5="new", line_25="new too")})
    report = reviewed(project, {"a.py": "# one\n# two\n" + numbered()})
    (found,) = report.verdicts
    assert found.outcome.value == "offset"
    assert found.reason == "2 of 2 hunks fit at other lines (+2)"
    assert not report.needs_work


def test_both_ways(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_8="new", line_25="new too")})
    text = numbered()
    changed = text.removeprefix("line 1\n").replace("line 15\n", "line 15\n\n\n\n")
    report = reviewed(project, {"a.py": changed})
    assert report.verdicts[0].reason == "2 of 2 hunks fit at other lines (-1 to +2)"
