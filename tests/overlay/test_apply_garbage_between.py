# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Lines between two files of a diff that are no part of it are refused, naming the line."""

from small_project import Project, numbered


def test_the_line_is_named(project: Project) -> None:
    file = project.add_patch("both", {"a.py": numbered(line_3="3"), "b.py": "one\n2\nthree\n"})
    project.edit(file, "diff --git a/b.py", "some words\ndiff --git a/b.py")
    assert "not a part of a git diff: 'some words'" in project.refusal(file)
