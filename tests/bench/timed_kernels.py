# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What stands for the kernels of the benchmarks where there is no GPU (fixture `timed`)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock


class Absent(Exception):
    """Stands for kernel_series.Absent."""


@dataclass
class Timed:
    """What a benchmark did without a GPU, and what befalls its kernels, by name of kernel or way.

    A measurement takes as many microseconds as there have been, so that time grows steadily.
    """

    order: list[tuple[int, int, str]] = field(default_factory=list)  # N, M and name, as measured
    built: list[tuple[int, str, list[int]]] = field(default_factory=list)  # N, series, tokens
    absent: set[str] = field(default_factory=set)
    not_built: dict[str, Exception] = field(default_factory=dict)
    not_run: dict[str, Exception] = field(default_factory=dict)
    us: dict[str, float] = field(default_factory=dict)  # instead
    wrong: set[str] = field(default_factory=set)

    def make_problem(self, series: Any, n: int, k: int, tokens: Sequence[int]) -> Any:
        self.built.append((n, series.name, list(tokens)))
        error = 0.25 if series.kernel in self.wrong else 0.0
        return SimpleNamespace(
            series=series, codes=SimpleNamespace(shape=(n, k)), error=lambda x, y: error
        )

    def layers(self, problem: Any, name: str) -> list[Any]:
        if name in self.absent:
            raise Absent("no such package")
        if name in self.not_built:
            raise self.not_built[name]
        layer = MagicMock(side_effect=self.not_run.get(name))
        layer.n, layer.label = problem.codes.shape[0], name
        return [layer]

    def ways(self, problem: Any) -> list[Any]:
        """Three ways of bench/dispatch.py."""
        return [
            SimpleNamespace(
                name=name, tokens=tokens, layers=self.layers(problem, name), finish=finish
            )
            for name, tokens, finish in (
                ("ternary", (8, 17, 256), None),
                ("unpack", (0,), None),
                ("unpack_cublas", (256,), lambda x, y: y),
            )
        ]

    def record(self, layers: list[Any], x: Any) -> Callable[[], float]:
        name = layers[0].label

        def measure() -> float:
            self.order.append((layers[0].n, 0 if x is None else x.m, name))
            return self.us.get(name, float(len(self.order)))

        return measure
