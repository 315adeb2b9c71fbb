# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Each fault of the series is named: missing, unlisted and twice-listed files, and numbers."""

from small_project import Project, numbered
from test_lint_right import with_test

from overlay.lint import lint


def faults(project: Project, series: str) -> list[str]:
    with_test(project)
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    project.add_patch("second", {"b.py": "one\n"})
    (project.patches / "series").write_text(series)
    return lint(project.workspace)


def test_missing_file(project: Project) -> None:
    found = faults(project, "0001-first.patch\n0002-second.patch\n0003-third.patch\n")
    assert found == ["series: 0003-third.patch is listed but there is no such file in patches/"]


def test_unlisted_file(project: Project) -> None:
    assert faults(project, "0001-first.patch\n") == ["0002-second.patch: is not in patches/series"]


def test_listed_twice(project: Project) -> None:
    found = faults(project, "0001-first.patch\n0002-second.patch\n0001-first.patch\n")
    assert found == ["series:3: 0001-first.patch is listed twice"]


def test_wrong_number(project: Project) -> None:
    found = faults(project, "0002-second.patch\n0001-first.patch\n")
    assert found[0].startswith("0002-second.patch: is number 1 of the series")


def test_not_a_name(project: Project) -> None:
    found = faults(project, "../first.patch\n")
    assert found == ["series:1: expected 0001-some-topic.patch, found '../first.patch'"]
