# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Conflicts of whole files: gone on one side, new on both, moved elsewhere."""

import pytest
from small_project import BASE, Project, numbered
from upgrading import go_on, outcomes, prepare, resolve, start

from overlay.errors import OverlayError


def without(name: str) -> dict[str, str | bytes]:
    return {path: text for path, text in BASE.items() if path != name}


def test_gone_in_the_new_version(project: Project) -> None:
    project.add_patch("first", {"b.py": "one\n2\nthree\n", "a.py": numbered(line_10="ten")})
    prepare(project, without("b.py"))
    assert "\n  b.py\n" in start(project).stopped
    assert project.git("status", "--porcelain") == "M  a.py\nDU b.py\n"
    assert (project.tree / "b.py").read_text() == "one\n2\nthree\n"
    project.git("rm", "-q", "b.py")
    assert not go_on(project).stopped
    assert not (project.tree / "b.py").exists()


def test_deleted_by_the_patch_and_changed(project: Project) -> None:
    project.add_patch("first", {"b.py": None})
    prepare(project, {**BASE, "b.py": "one\ntwo\nthree\nfour\n"})
    assert "\n  b.py\n" in start(project).stopped
    assert project.git("status", "--porcelain") == "UD b.py\n"
    project.git("rm", "-q", "b.py")
    assert outcomes(go_on(project)) == {"0001-first.patch": "merged by hand"}


def test_new_on_both_sides(project: Project) -> None:
    project.add_patch("first", {"new.py": "ours\n"})
    prepare(project, {**BASE, "new.py": "theirs\n"})
    start(project)
    assert project.git("status", "--porcelain") == "AA new.py\n"
    resolve(project, "new.py", "theirs\nours\n")
    go_on(project)
    assert (project.tree / "new.py").read_text() == "theirs\nours\n"


def test_moved_in_the_new_version(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_10="ten")})
    prepare(project, {**without("a.py"), "lib/a.py": numbered(line_20="zwanzig")})
    assert outcomes(start(project)) == {"0001-first.patch": "merged 3-way"}
    text = numbered(line_10="ten", line_20="zwanzig")
    assert (project.tree / "lib" / "a.py").read_text() == text
    assert not (project.tree / "a.py").exists()


def test_an_ignored_file_is_in_the_way(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_10="ten")})
    prepare(project, {**BASE, "x.log": "theirs\n"})
    (project.tree / "x.log").write_text("mine\n")
    with pytest.raises(OverlayError, match=r"x\.log is in the way"):
        start(project)
    assert (project.tree / "x.log").read_text() == "mine\n"
    (project.tree / "x.log").unlink()
    assert not go_on(project).stopped
    assert (project.tree / "x.log").read_text() == "theirs\n"
