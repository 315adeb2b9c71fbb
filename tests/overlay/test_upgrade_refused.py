# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""An upgrade that cannot begin changes nothing."""

import pytest
from small_project import BASE, Project, numbered
from upgrading import everything, look_up, prepare, start

from overlay import upgrade
from overlay.errors import OverlayError, UsageError
from overlay.git import Git
from overlay.next_pin import NextPin
from overlay.pin import Pin


def dirty(project: Project) -> None:
    (project.tree / "b.py").write_text("mine\n")


def unexported(project: Project) -> None:
    dirty(project)
    project.git("commit", "-q", "-a", "-m", "mine: change b")


def other_series(project: Project) -> None:
    project.add_patch("second", {"b.py": "one\n"})


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (dirty, r"in no commit \(b\.py\)"),
        (unexported, r"apply_patches\.py export"),
        (other_series, "is not the series in patches/"),
    ],
)
def test_work_that_could_be_lost(project: Project, spoil, words: str) -> None:
    project.add_patch("first", {"a.py": numbered(line_10="ten")})
    prepare(project, BASE)
    spoil(project)
    before = everything(project)
    with pytest.raises(OverlayError, match=words):
        start(project)
    assert everything(project) == before


@pytest.mark.parametrize(
    ("version", "words"),
    [("0.32.0", r"says 0\.32\.0 already"), ("next", "is not a version of vLLM")],
)
def test_no_other_version(project: Project, version: str, words: str) -> None:
    prepare(project, BASE)
    with pytest.raises(UsageError, match=words):
        upgrade.start(version, project.pin, project.workspace, look_up=look_up)


def test_look_up_fails(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_10="ten")})
    prepare(project, {**BASE, "a.py": numbered(line_10="zehn")})
    before = everything(project)

    def fails(git: Git, pristine: str, version: str, pin: Pin) -> NextPin:
        raise OverlayError("no network")

    with pytest.raises(OverlayError, match="no network"):
        upgrade.start("0.33.0", project.pin, project.workspace, look_up=fails)
    assert everything(project) == before
    project.apply()
