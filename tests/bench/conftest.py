# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The benchmarks are scripts that import their neighbours; here only what needs no torch."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest

sys.path[:0] = [str(Path(__file__).parents[2] / name) for name in ("bench", ".")]


class Absent(Exception):
    """Stands for kernel_series.Absent."""


@pytest.fixture
def timed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int, str]]:
    """N, M and kernels in the order in which they are timed, without a GPU."""
    import kernels

    order: list[tuple[int, int, str]] = []

    def make_problem(series: Any, n: int, k: int, tokens: list[int]) -> Any:
        assert tokens == [1, 64, 128, 256, 512]
        codes = SimpleNamespace(shape=(n, k))
        return SimpleNamespace(series=series, codes=codes, error=lambda x, y: 0.0)

    def build(problem: Any) -> list[Any]:
        if problem.series.kernel == "humming_w2a8":
            raise Absent("no such package")
        return [MagicMock(problem=problem)]

    def microseconds(layers: list[Any], x: Any) -> float:
        problem = layers[0].problem
        order.append((problem.codes.shape[0], x.m, problem.series.kernel))
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
