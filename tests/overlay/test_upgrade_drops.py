# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What is upstream is dropped when the answer is yes; a refusal changes nothing."""

import os
from pathlib import Path

import pytest
from small_project import BASE, Project, numbered
from upgrading import everything, look_up, outcomes, prepare, start

from overlay import upgrade
from overlay.commands import upgrade as command
from overlay.errors import UsageError


def series(project: Project) -> None:
    project.add_patch(
        "retires",
        {"a.py": numbered(line_10="ten")},
        Retire_Probe="b.py: present ^four$",
    )
    prepare(project, {**BASE, "b.py": "one\ntwo\nthree\nfour\n"})


def test_yes(project: Project) -> None:
    series(project)
    assert outcomes(start(project))["0001-retires.patch"].startswith("dropped: retire (")
    assert [*project.patch_files()] == ["series"]


def test_no_keeps_it(project: Project) -> None:
    series(project)
    assert outcomes(start(project, keep="retires")) == {"0001-retires.patch": "clean"}
    assert (project.tree / "a.py").read_text() == numbered(line_10="ten")


def test_nobody_to_ask(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    series(project)
    before = everything(project)

    with Path(os.devnull).open() as nobody:
        monkeypatch.setattr("sys.stdin", nobody)
        with pytest.raises(UsageError, match=r"drop it\? Say --yes"):
            upgrade.start("0.33.0", project.pin, project.workspace, command._ask, look_up)
    assert everything(project) == before
