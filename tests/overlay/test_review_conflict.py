# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A patch whose own lines have changed is a conflict, with file and line."""

from __future__ import annotations

import pytest
from reviewing import reviewed, verdict
from small_project import Content, Project, numbered


def test_file_and_line(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_10="new")})
    report = reviewed(project, {"a.py": "# one more line\n" + numbered(line_10="changed")})
    (found,) = report.verdicts
    assert found.outcome.value == "conflict"
    assert found.reason == "a.py:11 has changed here"
    assert report.needs_work


def test_places_are_counted(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="x", line_15="y", line_28="z")})
    found = verdict(project, {"a.py": numbered(line_3="1", line_15="2", line_28="3")})
    assert found.reason == "a.py:3 has changed here and 2 more places"


@pytest.mark.parametrize(
    ("patch", "changes", "reason"),
    [
        ({"b.py": "one\n"}, {"b.py": None}, "b.py there is no such file any more"),
        ({"c.py": "1\n"}, {"c.py": "2\n"}, "c.py:1 is a new file of the patch, and is there"),
        ({"b.py": None}, {"b.py": "one\n"}, "b.py:1 is deleted by the patch, and has changed"),
    ],
)
def test_whole_files(
    project: Project, patch: dict[str, Content], changes: dict[str, Content], reason: str
) -> None:
    project.add_patch("first", patch)
    found = verdict(project, changes)
    assert found.outcome.value == "conflict"
    assert found.reason.startswith(reason)


def test_what_is_there_in_part_is_said(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="x", line_25="y")})
    found = verdict(project, {"a.py": numbered(line_3="x", line_25="changed")})
    assert found.outcome.value == "conflict"
    assert found.reason == "a.py:25 has changed here; 1 of 2 hunks are in the tree already"
