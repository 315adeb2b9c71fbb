# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A patch that export would write otherwise is named: order of fields, summary, index lines."""

from small_project import Project
from test_lint_right import with_test

from overlay.lint import lint


def test_order_of_fields(project: Project) -> None:
    with_test(project)
    file = project.add_patch("first", {"b.py": "one\n"})
    project.edit(file, "Origin: other\nForwarded: no\n", "Forwarded: no\nOrigin: other\n")
    assert lint(project.workspace)[0].startswith(f"{file}: is not in canonical form")


def test_short_index_line(project: Project) -> None:
    with_test(project)
    file = project.add_patch("first", {"b.py": "one\n"})
    index = (project.patches / file).read_bytes().split(b"\nindex ")[1].split(b"\n")[0]
    project.edit(file, index, index[:9] + b".." + index[42:51] + b" 100644")
    assert "b.py: no full index line" in lint(project.workspace)[0]
