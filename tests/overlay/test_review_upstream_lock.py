# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What header or upstream.yaml say is in a version, and its tree does not have, is a doubt."""

from __future__ import annotations

import pytest
from reviewing import verdict
from small_project import Project

LOCK = "a/b#1: {kind: issue, state: closed, looked-at: 2026-02-03, first-release: '%s'}\n"
PATCH = {"b.py": "one\n2\nthree\n"}
UNCHANGED = {"kept.log": "changed\n"}


def test_reference_that_is_in_the_version(project: Project) -> None:
    project.add_patch("first", PATCH, Bug="a/b#1")
    (project.patches / "upstream.yaml").write_text(LOCK % "0.33.0")
    found = verdict(project, UNCHANGED)
    assert found.outcome.value == "clean"
    assert found.doubts == ("upstream.yaml says that a/b#1 is in 0.33.0: compare",)


def test_reference_that_came_later(project: Project) -> None:
    project.add_patch("first", PATCH, Bug="a/b#1")
    (project.patches / "upstream.yaml").write_text(LOCK % "0.33.1")
    assert verdict(project, UNCHANGED).doubts == ()


def test_header(project: Project) -> None:
    project.add_patch("first", PATCH, Applied_Upstream="v0.32.5")
    words = "its header says that it is in 0.32.5, but its hunks are not: compare"
    assert verdict(project, UNCHANGED).doubts == (words,)


def test_nothing_to_say_where_the_change_is_there(project: Project) -> None:
    project.add_patch("first", PATCH, Bug="a/b#1", Applied_Upstream="0.33.0")
    (project.patches / "upstream.yaml").write_text(LOCK % "0.33.0")
    assert verdict(project, PATCH).doubts == ()


@pytest.mark.parametrize("text", ["a/b#1: {}\n", "- x\n"])
def test_lock_that_is_not_right(project: Project, text: str) -> None:
    project.add_patch("first", PATCH)
    (project.patches / "upstream.yaml").write_text(text)
    with pytest.raises(Exception, match=r"^upstream\.yaml: "):
        verdict(project, UNCHANGED)
