# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A patch whose change the new version has is `already upstream`, in whatever way it came there."""

from __future__ import annotations

import pytest
from reviewing import reviewed, verdict
from small_project import Content, Project, numbered

CASES: dict[str, tuple[dict[str, Content], dict[str, Content]]] = {
    "changed": ({"a.py": numbered(line_10="new")}, {"a.py": numbered(line_10="new")}),
    "elsewhere": ({"a.py": numbered(line_10="new")}, {"a.py": "# 0\n" + numbered(line_10="new")}),
    "at the end": ({"b.py": "one\ntwo\nthree\n4\n"}, {"b.py": "one\ntwo\nthree\n4\n5\n"}),
    "in between": ({"b.py": "one\n1.5\ntwo\nthree\n"}, {"b.py": "one\n1.5\ntwo\nthree\n"}),
    "taken out": ({"b.py": "one\nthree\n"}, {"b.py": "zero\none\nthree\n"}),
    "new file": ({"c.py": "x = 1\n"}, {"c.py": "x = 1\n"}),
    "file gone": ({"b.py": None}, {"b.py": None}),
    "context changed": (
        {"a.py": numbered(line_10="new")},
        {"a.py": numbered(line_8="changed", line_10="new")},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_found(project: Project, case: str) -> None:
    patch, changes = CASES[case]
    project.add_patch("first", patch)
    report = reviewed(project, changes)
    assert report.verdicts[0].outcome.value == "already upstream"
    assert not report.needs_work


def test_half_of_it_is_not_enough(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="x", line_25="y")})
    assert verdict(project, {"a.py": numbered(line_3="x")}).outcome.value == "merged 3-way"


def test_the_probe_agrees(project: Project) -> None:
    project.add_patch("first", {"b.py": "one\n2\nthree\n"}, Retire_Probe="b.py: absent two")
    found = verdict(project, {"b.py": "one\n2\nthree\n"})
    assert found.reason == "its hunk is in the tree; its Retire-Probe holds"


def test_a_probe_that_does_not_agree_is_a_doubt(project: Project) -> None:
    project.add_patch("first", {"b.py": "one\n2\nthree\n"}, Retire_Probe="b.py: present four")
    found = verdict(project, {"b.py": "one\n2\nthree\n"})
    assert found.outcome.value == "already upstream"
    assert found.doubts == ("its Retire-Probe does not hold, though the change is there: mend it",)
