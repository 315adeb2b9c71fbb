# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A conflict that was resolved once is resolved in the same way when it comes again."""

from small_project import BASE, Project, numbered
from upgrading import go_on, outcomes, prepare, resolve, start

from overlay import upgrade

CLASH = {**BASE, "a.py": numbered(line_10="zehn"), "b.py": "one\nzwei\nthree\n"}


def stopped_twice(project: Project) -> None:
    """Resolve the first of two conflicts."""
    project.add_patch("first", {"a.py": numbered(line_10="ten")})
    project.add_patch("second", {"b.py": "one\n2\nthree\n"})
    prepare(project, CLASH)
    start(project)
    resolve(project, "a.py", numbered(line_10="both"))
    assert "0002-second.patch" in go_on(project).stopped


def test_after_an_abort(project: Project) -> None:
    stopped_twice(project)
    upgrade.abort(project.workspace)
    again = start(project)
    assert outcomes(again) == {"0001-first.patch": "resolved as before"}
    assert "0002-second.patch" in again.stopped
    assert (project.tree / "a.py").read_text() == numbered(line_10="both")


def test_among_other_lines(project: Project) -> None:
    stopped_twice(project)
    upgrade.abort(project.workspace)
    project.add_version("0.33.0", {**CLASH, "a.py": "more\n" + numbered(line_10="zehn")})
    assert outcomes(start(project)) == {"0001-first.patch": "resolved as before"}
    assert (project.tree / "a.py").read_text() == "more\n" + numbered(line_10="both")


def test_another_conflict_is_not_taken_for_it(project: Project) -> None:
    stopped_twice(project)
    upgrade.abort(project.workspace)
    project.add_version("0.33.0", {**CLASH, "a.py": numbered(line_10="dix")})
    assert "0001-first.patch" in start(project).stopped


def test_the_last_resolution_counts(project: Project) -> None:
    stopped_twice(project)
    resolve(project, "b.py", "one\nonce\nthree\n")
    go_on(project)
    kept = project.workspace.work / "resolutions"
    before = {path.parent.name for path in kept.rglob("resolved")}
    assert len(before) == 2
