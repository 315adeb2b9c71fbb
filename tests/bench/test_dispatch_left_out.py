# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What the dispatch benchmark cannot measure is named, and the rest is measured."""

import json
from pathlib import Path

import dispatch
import pytest
from timed_kernels import Timed


def run(folder: Path, *arguments: str) -> int:
    return dispatch.main(
        ["--out", str(folder / "d.json"), "--shapes", "28672x4096", "4096x14336", *arguments]
    )


def test_a_way_that_fails(timed: Timed, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    timed.not_run = {"unpack_cublas": RuntimeError("not on this GPU\nor that")}

    assert run(tmp_path) == 0

    rows = json.loads((tmp_path / "d.json").read_text())
    assert {(row["way"], row["m"]) for row in rows} == {
        ("unpack", 0),
        *(("ternary", m) for m in (8, 17, 256)),
    }
    assert (
        "left out: unpack_cublas/int8/group128 4096x14336 M = 256: RuntimeError: not on this GPU\n"
        in capsys.readouterr().out
    )


def test_another_wheel(timed: Timed, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    timed.absent = {"ternary"}

    assert run(tmp_path) == 1

    captured = capsys.readouterr()
    assert captured.out.count("left out: ") == captured.out.count("no such package") == 4
    assert captured.err == "error: nothing was measured\n"
    assert not (tmp_path / "d.json").exists()


def test_a_spent_budget(timed: Timed, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, "--budget", "0") == 1

    assert timed.built == []
    said = capsys.readouterr().out
    assert [s for s in said.splitlines() if s.startswith("left out: ")] == [
        "left out: 28672x4096 from M = 0 on: the budget is spent",
        "left out: 4096x14336 from M = 0 on: the budget is spent",
    ]
