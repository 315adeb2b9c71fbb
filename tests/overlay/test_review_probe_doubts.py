# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A Retire-Probe that cannot tell is a doubt, and retires nothing."""

from __future__ import annotations

from reviewing import verdict
from small_project import Project, numbered


def test_its_file_is_gone(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="x")}, Retire_Probe="b.py: absent two")
    found = verdict(project, {"b.py": None})
    assert found.outcome.value == "clean"
    assert found.doubts == ("its Retire-Probe cannot tell: there is no b.py",)
    assert found.needs_work


def test_it_holds_on_the_pinned_version(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="x")}, Retire_Probe="b.py: present two")
    found = verdict(project, {"kept.log": "changed\n"})
    assert found.outcome.value == "clean"
    words = "its Retire-Probe holds on the pinned version too: b.py: present two"
    assert found.doubts == (words,)
