# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The benchmarks are scripts that import their neighbours; here only what needs no torch."""

import sys
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
from timed_kernels import Absent, Timed

sys.path[:0] = [str(Path(__file__).parents[2] / name) for name in ("bench", ".")]


@pytest.fixture
def timed(monkeypatch: pytest.MonkeyPatch) -> Timed:
    """bench/kernels.py and bench/dispatch.py measure this, without a GPU."""
    import dispatch
    import kernel_timing
    import kernels

    found = Timed()
    torch = MagicMock()
    torch.randn = lambda shape, device: SimpleNamespace(
        bfloat16=lambda: SimpleNamespace(m=shape[0])
    )
    series = SimpleNamespace(
        Absent=Absent,
        TOLERANCE={"a16": 0.1, "int8": 0.1},
        build=lambda problem: found.layers(problem, problem.series.kernel),
        compile_humming=MagicMock(return_value=0),
        make_problem=found.make_problem,
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "kernel_series", series)
    monkeypatch.setitem(sys.modules, "dispatch_ways", SimpleNamespace(ways=found.ways))
    monkeypatch.setattr(kernel_timing, "record", found.record)
    monkeypatch.setattr(dispatch, "record", found.record)
    monkeypatch.setattr(kernels, "measure_floors", lambda: (4.0, 700.0))
    return found
