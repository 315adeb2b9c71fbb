# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A series that is applied already, wholly: the command says so, exits with 0, changes nothing."""

from small_project import Project, numbered


def test_no_change(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    assert project.command("apply")[0] == 0
    before = project.everything()
    assert project.command("apply") == (0, "")
    assert project.everything() == before
    assert project.tree_id() == project.model_id()
