# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What is not measured is named, and why."""

import sys
from pathlib import Path
from typing import Any

import kernel_table
import kernels
import pytest


def test_a_wrong_result_is_named_and_not_timed(
    timed: list[tuple[int, int, str]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_problem = sys.modules["kernel_series"].make_problem

    def make_wrong(series: kernel_table.Series, *arguments: Any) -> Any:
        problem = make_problem(series, *arguments)
        if series.kernel == "cublas_bf16":
            problem.error = lambda x, y: 0.25
        return problem

    monkeypatch.setattr(sys.modules["kernel_series"], "make_problem", make_wrong)
    arguments = ["--out", str(tmp_path / "k.json"), "--shapes", "28672x4096"]
    arguments += ["--m", "1", "64", "128", "256", "512", "--kernels"]

    assert kernels.main([*arguments, "cublas_bf16", "humming_w2a16"]) == 0

    assert {kernel for _, _, kernel in timed} == {"humming_w2a16"}
    said = "left out: cublas_bf16/a16/channel 28672x4096 from M = 1 on: WrongResult: error 25.00%"
    assert said in capsys.readouterr().out


def test_a_spent_budget_is_named(
    timed: list[tuple[int, int, str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--out", str(tmp_path / "k.json"), "--shapes", "28672x4096", "--budget", "0"]
    arguments += ["--m", "1", "64", "128", "256", "512", "--kernels", "cublas_bf16"]

    assert kernels.main(arguments) == 0

    assert timed == []
    assert "left out: 28672x4096 from M = 1 on: the budget is spent" in capsys.readouterr().out
