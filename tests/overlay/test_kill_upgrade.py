# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Killed at any moment, the same upgrade command again ends right and says what to look at, and
--abort is the old state."""

import pytest
from killing import kills, resetting
from small_project import BASE, Project, numbered
from upgrading import everything, go_on, new_pin, outcomes, prepare, resolve, start

from overlay import progress, switch, tree, upgrade
from overlay.git import Git
from overlay.status import status


def clash(project: Project) -> None:
    project.add_patch("first", {"pkg/mod.py": "x\n", "deep/new.py": "n\n"})
    project.add_patch("second", {"a.py": numbered(line_10="ten"), "b.py": None})
    project.add_patch("third", {"noeol.txt": "FIRST\nlast"})
    prepare(project, {**BASE, "a.py": numbered(line_10="zehn"), "dir/c.py": "c\n"})


def under_way(project: Project) -> progress.Progress | None:
    """The upgrade there is, once what the kill left is repaired."""
    with tree.opened(project.workspace):
        return progress.load(Git(project.tree))


def test_start_stops_or_is_undone(project: Project) -> None:
    clash(project)
    old = everything(project)
    reset = resetting(project.workspace.root, project.root / "kept")
    start(project)
    stopped = everything(project)
    reset()
    for number, moment in enumerate(kills("upgrade", lambda: start(project), reset, 30, 10)):
        current = under_way(project)
        if number % 2 and current:
            upgrade.abort(project.workspace)
            assert everything(project) == old, moment
        elif current is None or current.stop is None:
            start(project)
            assert everything(project) == stopped, moment
        else:
            assert everything(project) == stopped, moment


def test_continue_ends(project: Project) -> None:
    clash(project)
    old = everything(project)
    start(project)
    resolve(project, "a.py", numbered(line_10="both"))
    reset = resetting(project.workspace.root, project.root / "kept")
    assert list(outcomes(go_on(project)).values()) == ["clean", "merged by hand", "clean"]
    new = everything(project)
    reset()
    for number, moment in enumerate(
        kills("upgrade --continue", lambda: go_on(project), reset, 60, 20)
    ):
        current = under_way(project)
        if number % 3 == 1 and current:
            upgrade.abort(project.workspace)
            assert everything(project) == old, moment
            continue
        assert go_on(project).notes == ["something to look at"], moment
        assert everything(project) == new, moment
        assert status(new_pin(project), project.workspace).state == "applied", moment
        assert not list(project.workspace.root.glob(".p*")), moment


def test_start_ends(project: Project) -> None:
    project.add_patch("first", {"pkg/mod.py": "x\n"})
    project.add_patch("second", {"a.py": numbered(line_10="ten")}, Depends="first, gone")
    prepare(project, {**BASE, "dir/c.py": "c\n"})
    reset = resetting(project.workspace.root, project.root / "kept")
    notes = start(project).notes
    new = everything(project)
    assert len(notes) == 2
    reset()
    for moment in kills("upgrade to its end", lambda: start(project), reset, 30, 5):
        assert start(project).notes == notes, moment
        assert everything(project) == new, moment


def test_the_next_command_knows_the_new_pin(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.add_patch("first", {"a.py": numbered(line_10="ten")})
    prepare(project, {**BASE, "dir/c.py": "c\n"})
    with monkeypatch.context() as patch:
        # As if killed right after the journal was written: pin.yaml is the old one.
        patch.setattr(switch, "_carry_out", lambda *args, **options: None)
        start(project)
    assert project.command("export", "--check") == (0, "")
    assert new_pin(project).version == "0.33.0"


def test_abort_ends(project: Project) -> None:
    clash(project)
    old = everything(project)
    start(project)
    reset = resetting(project.workspace.root, project.root / "kept")
    for moment in kills("upgrade --abort", lambda: upgrade.abort(project.workspace), reset, 20, 5):
        if under_way(project):
            upgrade.abort(project.workspace)
        assert everything(project) == old, moment
