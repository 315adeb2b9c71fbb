# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Calls are captured once however often they are measured, and slow ones are not run again."""

import itertools
import sys
from unittest.mock import MagicMock

import kernel_timing
import pytest


def torch_whose_events_say(*milliseconds: float) -> MagicMock:
    """Of one time after the other, the last one for ever."""
    torch = MagicMock()
    times = itertools.chain(milliseconds, itertools.repeat(milliseconds[-1]))
    torch.cuda.Event.return_value.elapsed_time.side_effect = lambda _: next(times)
    return torch


def test_a_slow_call_is_timed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = torch_whose_events_say(30.0, 999.0)
    monkeypatch.setitem(sys.modules, "torch", torch)
    layers = [MagicMock(), MagicMock()]

    measure = kernel_timing.record(layers, "x")

    assert [measure(), measure()] == [30_000.0, 30_000.0]
    assert [layer.call_count for layer in layers] == [2, 1]
    assert not torch.cuda.CUDAGraph.called


def test_a_graph_is_captured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # Alone, then five replays of 24 calls, a slow one among them, then others.
    torch = torch_whose_events_say(0.01, 0.24, 0.24, 24.0, 0.24, 0.24, 0.48)
    monkeypatch.setitem(sys.modules, "torch", torch)
    layers = [MagicMock(), MagicMock()]

    measure = kernel_timing.record(layers, "x")

    assert [measure(), measure()] == pytest.approx([10.0, 20.0])
    # Once to warm up, one of them alone, and 24 in the graph.
    assert [layer.call_count for layer in layers] == [14, 13]
    assert torch.cuda.CUDAGraph.call_count == 1
    assert torch.cuda.CUDAGraph.return_value.replay.call_count == 12


def test_a_long_call_has_a_graph_of_one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = torch_whose_events_say(2.0, 4.0)
    monkeypatch.setitem(sys.modules, "torch", torch)
    layers = [MagicMock(), MagicMock()]

    assert kernel_timing.microseconds(layers, "x") == pytest.approx(2000.0)

    assert [layer.call_count for layer in layers] == [3, 2]
    assert torch.cuda.CUDAGraph.return_value.replay.call_count == 4
