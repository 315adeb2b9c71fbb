# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""After a conflict the others are judged as if it were resolved, and those that need it say so."""

from __future__ import annotations

from reviewing import reviewed
from small_project import Project, numbered


def test_the_others_go_on(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_10="new")})
    project.add_patch("second", {"a.py": numbered(line_10="newer")})
    project.add_patch("third", {"b.py": "one\n"})
    report = reviewed(project, {"a.py": numbered(line_10="changed")})
    assert [entry.outcome.value for entry in report.verdicts] == ["conflict", "clean", "clean"]
    assert report.verdicts[1].doubts == ("needs first, which has a conflict to resolve first",)
    assert report.verdicts[1].needs_work
    assert not report.verdicts[2].needs_work
