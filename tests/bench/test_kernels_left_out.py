# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What is not measured is named, and why, once; it is not built again for more tokens."""

import sys
from pathlib import Path

import kernels
import pytest
from timed_kernels import Timed

SHAPE = "28672x4096"


def run(folder: Path, *arguments: str) -> int:
    """Three passes over a shape."""
    fixed = ["--out", str(folder / "k.json"), "--shapes", SHAPE, "--m", "1", "64", "256", "512"]
    return kernels.main([*fixed, *arguments])


def left_out(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [s for s in capsys.readouterr().out.splitlines() if s.startswith("left out: ")]


def builds(timed: Timed) -> list[str]:
    return [series.partition("/")[0] for _, series, _ in timed.built]


PEERS = ("--kernels", "cublas_bf16", "humming_w2a16")


def test_a_wrong_result(timed: Timed, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    timed.wrong = {"cublas_bf16"}

    assert run(tmp_path, *PEERS) == 0

    assert {kernel for _, _, kernel in timed.order} == {"humming_w2a16"}
    assert builds(timed) == ["cublas_bf16", *["humming_w2a16"] * 3]
    name = f"cublas_bf16/a16/channel {SHAPE}"
    assert left_out(capsys) == [f"left out: {name} from M = 1 on: WrongResult: error 25.00%"]


def test_a_call_that_takes_too_long(
    timed: Timed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    timed.us = {"cublas_bf16": 10_000.0}

    assert run(tmp_path, *PEERS) == 0

    assert {m for _, m, kernel in timed.order if kernel == "cublas_bf16"} == {1}
    assert builds(timed) == ["cublas_bf16", *["humming_w2a16"] * 3]
    name = f"cublas_bf16/a16/channel {SHAPE}"
    assert left_out(capsys) == [f"left out: {name} from M = 64 on: TooLong: 640 ms a call"]


def test_a_kernel_that_cannot_be_built(
    timed: Timed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    timed.not_built = {"cublas_bf16": ValueError("of no use\nat all")}

    assert run(tmp_path, *PEERS) == 0

    assert builds(timed) == ["cublas_bf16", *["humming_w2a16"] * 3]
    said = f"left out: cublas_bf16/a16/channel {SHAPE}: ValueError: of no use"
    assert left_out(capsys) == [said]


def test_a_kernel_that_is_not_there(
    timed: Timed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    timed.absent = {"cublas_bf16"}

    assert run(tmp_path, *PEERS, "--shapes", SHAPE, "4096x14336") == 0

    assert builds(timed).count("cublas_bf16") == 1
    assert left_out(capsys) == ["left out: cublas_bf16/a16/channel: no such package"]


def test_a_spent_budget(timed: Timed, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, "--budget", "0") == 1

    assert timed.built == []
    assert not sys.modules["kernel_series"].compile_humming.called
    assert left_out(capsys) == [f"left out: {SHAPE} from M = 1 on: the budget is spent"]


def test_a_budget_that_ends_within(
    timed: Timed,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Time that passes as measurements are made: two of each kernel with one number of tokens.
    monkeypatch.setattr(kernels.time, "monotonic", lambda: float(len(timed.order)))

    assert run(tmp_path, *PEERS, "--shapes", SHAPE, "4096x14336", "--budget", "3") == 0

    assert {(n, m) for n, m, _ in timed.order} == {(28672, 1)}
    assert {n for n, _, _ in timed.built} == {28672}
    assert left_out(capsys) == [
        f"left out: {SHAPE} from M = 64 on: the budget is spent",
        "left out: 4096x14336 from M = 1 on: the budget is spent",
    ]


@pytest.mark.parametrize("before", [None, "[1]\n"])
def test_nothing_at_all(
    before: str | None, timed: Timed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "k.json"
    if before is not None:
        out.write_text(before)
    timed.absent = {"ternary"}

    assert run(tmp_path, "--kernels", "ternary") == 1

    assert capsys.readouterr().err == "error: nothing was measured\n"
    assert (out.read_text() if out.exists() else None) == before
