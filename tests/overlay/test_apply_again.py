# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Applying what is applied already changes nothing."""

from small_project import Project, numbered


def test_second_apply_is_the_first(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="three")})
    first = project.apply()
    before = project.state()
    assert project.apply() == first
    assert project.state() == before
