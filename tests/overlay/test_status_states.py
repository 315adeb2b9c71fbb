# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Status tells the states of the tree apart."""

from dataclasses import replace

from small_project import Project, numbered

from overlay.status import status


def test_each_state(project: Project) -> None:
    def state() -> str:
        return status(project.pin, project.workspace).state

    project.add_patch("first", {"a.py": numbered(line_3="3")})
    assert state() == "absent"
    project.apply_nothing()
    assert state() == "pristine"
    project.apply()
    assert state() == "applied"
    project.add_patch("second", {"b.py": "one\n"})
    assert state() == "partial"
    (project.tree / "pkg/mod.py").write_text("mine\n")
    assert state() == "dirty"
    project.git("commit", "-q", "-a", "-m", "mine")
    assert state() == "unexported"
    other = replace(project.pin, version="0.33.0")
    assert status(other, project.workspace).state == "not-the-pin"


def test_one_patch_is_not_several(project: Project) -> None:
    project.add_patch("only", {"a.py": numbered(line_3="3")})
    project.apply_nothing()
    assert status(project.pin, project.workspace).detail == "1 patch to apply"
    project.apply()
    assert status(project.pin, project.workspace).detail == "1 patch"
