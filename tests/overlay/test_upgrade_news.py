# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A run of an upgrade tells what became of patches since the stop before, and no more."""

from small_project import BASE, Project, numbered
from upgrading import go_on, prepare, resolve, start

from overlay import upgrade


def news(result: upgrade.Result) -> list[tuple[str, str]]:
    return [(step.file, step.outcome) for step in result.news]


def test_at_each_stop(project: Project) -> None:
    project.add_patch("first", {"new.py": "n\n"})
    project.add_patch("second", {"a.py": numbered(line_10="ten")})
    project.add_patch("third", {"noeol.txt": "FIRST\nlast"})
    project.add_patch("fourth", {"b.py": "1\ntwo\nthree\n"})
    project.add_patch("fifth", {"a.py": numbered(line_10="ten", line_20="twenty")})
    prepare(project, {**BASE, "a.py": numbered(line_10="zehn"), "b.py": "eins\ntwo\nthree\n"})
    assert news(start(project)) == [("0001-first.patch", "clean")]
    resolve(project, "a.py", numbered(line_10="both"))
    assert news(go_on(project)) == [
        ("0002-second.patch", "merged by hand"),
        ("0003-third.patch", "clean"),
    ]
    assert news(upgrade.skip(project.pin, project.workspace)) == [
        ("0004-fourth.patch", "skipped"),
        ("0005-fifth.patch", "clean"),
    ]
