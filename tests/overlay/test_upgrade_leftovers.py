# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What was left out by an upgrade is named at its end, with what it leaves behind."""

from small_project import BASE, Project, numbered
from upgrading import go_on, prepare, start

from overlay import upgrade

TEST = "tests/patches/test_clash.py"


def series(project: Project) -> None:
    (project.workspace.root / TEST).parent.mkdir(parents=True)
    (project.workspace.root / TEST).touch()
    project.add_patch("clash", {"a.py": numbered(line_10="ten")}, Test=TEST, Bug="a/b#1")
    (project.patches / "upstream.yaml").write_text(
        "a/b#1: {kind: issue, state: open, looked-at: 2026-02-03}\n"
    )
    prepare(project, {**BASE, "a.py": numbered(line_10="zehn")})
    start(project)


def test_skipped(project: Project) -> None:
    series(project)
    notes = [
        "something to look at",
        "0001-clash.patch: was skipped",
        f"{TEST}: no patch names it any more",
        "patches/upstream.yaml: a/b#1: no patch names it any more",
    ]
    assert upgrade.skip(project.pin, project.workspace).notes == notes
    # And again, as if it had been killed before it told anybody.
    assert go_on(project).notes == notes


def test_resolved_to_nothing(project: Project) -> None:
    series(project)
    project.git("checkout", "HEAD", "a.py")
    assert go_on(project).notes[1:] == [
        f"{TEST}: no patch names it any more",
        "patches/upstream.yaml: a/b#1: no patch names it any more",
    ]
