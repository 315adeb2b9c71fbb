# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Two patches in the wrong order are refused, naming the one that fails."""

from small_project import Project, numbered


def test_the_failing_one_is_named(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_9="nine")})
    second = project.add_patch("second", {"a.py": numbered(line_9="neuf")})
    series = project.patches / "series"
    lines = series.read_text().splitlines()
    series.write_text("\n".join([lines[0], lines[2], lines[1], ""]))
    assert "expected 'nine', found 'line 9'" in project.refusal(second, "a.py")
