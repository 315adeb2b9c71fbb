# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A conflict stops in the work tree; nothing else has moved until it is resolved."""

import pytest
from small_project import BASE, Project, numbered
from upgrading import everything, go_on, new_pin, outcomes, prepare, resolve, start

from overlay.errors import OverlayError
from overlay.export import export
from overlay.status import status
from overlay.tree import unapply


def series(project: Project) -> None:
    project.add_patch("first", {"pkg/mod.py": "def f():\n    return 2\n", "new.py": "n\n"})
    project.add_patch("clash", {"a.py": numbered(line_10="ten"), "b.py": "one\n2\nthree\n"})
    project.add_patch("last", {"noeol.txt": "FIRST\nlast"})
    prepare(project, {**BASE, "a.py": numbered(line_10="zehn")})


def test_where_it_stops(project: Project) -> None:
    series(project)
    before = everything(project)
    result = start(project)
    assert result.stopped.startswith("The upgrade to 0.33.0 stopped at 0002-clash.patch. Resolve ")
    assert "\n  a.py\n" in result.stopped
    assert "\n  ./apply_patches.py upgrade --continue " in result.stopped
    assert project.git("status", "--porcelain") == "UU a.py\nM  b.py\n"
    assert (project.tree / "a.py").read_text() == numbered(
        line_10="<<<<<<< vLLM 0.33.0 and the patches before\nzehn\n||||||| the pinned version\n"
        "line 10\n=======\nten\n>>>>>>> 0002-clash.patch"
    )
    assert (project.tree / "new.py").read_text() == "n\n"
    after = everything(project)
    for name in ("<pin>", *(f"patches/{file}" for file in project.patch_files())):
        assert after[name] == before[name]
    assert project.git("rev-parse", "main").strip() in str(before["<head>"])
    found = status(project.pin, project.workspace)
    assert found.state == "upgrading"
    assert found.detail.startswith("an upgrade to 0.33.0, stopped at 0002-clash.patch: ")
    assert [patch.state for patch in found.patches] == ["clean", "conflict", "not yet on 0.33.0"]


@pytest.mark.parametrize("command", [export, unapply])
def test_others_refuse_meanwhile(project: Project, command) -> None:
    series(project)
    start(project)
    with pytest.raises(OverlayError, match=r"an upgrade to 0\.33\.0, stopped at 0002"):
        command(project.pin, project.workspace)
    with pytest.raises(OverlayError, match=r"an upgrade to 0\.33\.0, stopped at 0002"):
        start(project)


def test_not_resolved(project: Project) -> None:
    series(project)
    start(project)
    with pytest.raises(OverlayError, match=r"a\.py is not resolved: edit it"):
        go_on(project)
    project.git("add", "a.py")
    with pytest.raises(OverlayError, match=r"a\.py:10: a conflict marker is left"):
        go_on(project)
    resolve(project, "a.py", numbered(line_10="both"))
    (project.tree / "b.py").write_text("not added\n")
    with pytest.raises(OverlayError, match=r"b\.py is not in the index"):
        go_on(project)
    project.git("checkout", "b.py")
    (project.tree / "a.py.orig").write_text("left by a merge tool\n")
    with pytest.raises(OverlayError, match=r"a\.py\.orig is not in the index"):
        go_on(project)


def test_resolved(project: Project) -> None:
    series(project)
    start(project)
    resolve(project, "a.py", numbered(line_10="both"))
    result = go_on(project)
    assert outcomes(result) == {
        "0001-first.patch": "clean",
        "0002-clash.patch": "merged by hand",
        "0003-last.patch": "clean",
    }
    assert not result.stopped
    assert (project.tree / "a.py").read_text() == numbered(line_10="both")
    assert (project.tree / "b.py").read_text() == "one\n2\nthree\n"
    assert b"-zehn\n+both\n" in (project.patches / "0002-clash.patch").read_bytes()
    pin = new_pin(project)
    assert status(pin, project.workspace).state == "applied"
    assert not export(pin, project.workspace, check=True).stale


def test_a_file_that_is_not_text_any_more(project: Project) -> None:
    project.add_patch("clash", {"a.py": numbered(line_10="ten")})
    prepare(project, {**BASE, "a.py": numbered(line_10="zehn\0")})
    assert "\n  a.py\n" in start(project).stopped
    assert project.git("status", "--porcelain") == "UU a.py\n"
    assert (project.tree / "a.py").read_text() == numbered(line_10="ten")


def test_committed_by_hand(project: Project) -> None:
    series(project)
    start(project)
    resolve(project, "a.py", numbered(line_10="both"))
    project.git("commit", "-q", "-m", "whatever")
    assert outcomes(go_on(project))["0002-clash.patch"] == "merged by hand"
    assert b"Subject: Change something\n" in (project.patches / "0002-clash.patch").read_bytes()


def test_resolved_to_nothing(project: Project) -> None:
    series(project)
    start(project)
    project.git("checkout", "HEAD", "a.py", "b.py")
    assert outcomes(go_on(project))["0002-clash.patch"] == "nothing was left of it"
    assert [*project.patch_files()] == ["0001-first.patch", "0002-last.patch", "series"]
