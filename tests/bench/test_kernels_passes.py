# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Few tokens are timed first, for all kernels; a kernel's choices are made for all tokens."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import kernel_table
import kernels
import pytest


class Absent(Exception):
    pass


@pytest.fixture
def timed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Kernels and numbers of tokens in the order in which they are timed, without a GPU."""
    order: list[tuple[str, int]] = []

    def make_problem(series: kernel_table.Series, n: int, k: int, tokens: list[int]) -> Any:
        assert tokens == [1, 64, 128, 512]
        return SimpleNamespace(series=series, error=lambda x, y: 0.0)

    def build(problem: Any) -> list[Any]:
        if problem.series.kernel == "humming_w2a8":
            raise Absent("no such package")
        return [MagicMock(series=problem.series)]

    def microseconds(layers: list[Any], x: Any) -> float:
        order.append((layers[0].series.kernel, x.m))
        return 1.0

    torch = MagicMock()
    torch.randn = lambda shape, device: SimpleNamespace(
        bfloat16=lambda: SimpleNamespace(m=shape[0])
    )
    series = SimpleNamespace(
        Absent=Absent,
        TOLERANCE={"a16": 0.1, "int8": 0.1},
        build=build,
        compile_humming=lambda *_: 0,
        make_problem=make_problem,
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "kernel_series", series)
    monkeypatch.setattr(kernels, "microseconds", microseconds)
    monkeypatch.setattr(kernels, "measure_floors", lambda: (4.0, 700.0))
    return order


def test_few_tokens_first(
    timed: list[tuple[str, int]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--out", str(tmp_path / "k.json"), "--shapes", "28672x4096"]
    arguments += ["--m", "1", "64", "128", "512"]
    arguments += ["--kernels", "cublas_bf16", "humming_w2a16", "humming_w2a8"]

    assert kernels.main(arguments) == 0

    peers = ["cublas_bf16", "humming_w2a16"]
    assert timed == [(p, m) for few in ((1, 64), (128, 512)) for p in peers for m in few]
    rows = json.loads((tmp_path / "k.json").read_text())
    assert [(row["m"], row["kernel"]) for row in rows] == [
        (m, p) for m in (1, 64, 128, 512) for p in peers
    ]
    assert (
        capsys.readouterr().out.count("left out: humming_w2a8/int8/channel: no such package") == 1
    )
