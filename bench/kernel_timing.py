# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Time of a call on this machine's GPU, and of several that are to be compared."""

import statistics
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

REPLAYS, LONG_REPLAYS = 5, 3  # of a measurement; the latter of calls longer than LONG_US
LONG_US = 1000
GRAPH_CALLS = 24  # long enough that the launch of a graph does not count
SLOW_US = 20_000  # a call that takes longer is timed once

Key = TypeVar("Key", bound=Hashable)
Measure = Callable[[], float]  # microseconds a call


def elapsed_us(run: Callable[[], object]) -> float:
    """Time on the GPU."""
    import torch

    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    run()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) * 1e3


@dataclass(frozen=True)
class Recording:
    """Calls in a CUDA graph, to be measured as often as wanted."""

    graph: Any
    calls: int
    replays: int
    reads: Any  # what the graph reads is to live as long

    def __call__(self) -> float:
        self.graph.replay()
        return statistics.median(
            elapsed_us(self.graph.replay) / self.calls for _ in range(self.replays)
        )


def record(layers: Sequence[Callable[[Any], Any]], x: Any) -> Measure:
    """What measures one call on x bf16 [M, K], the layers taken in turn."""
    import torch

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for layer in layers:
            layer(x)
        stream.synchronize()
        alone = elapsed_us(lambda: layers[0](x))
    if alone > SLOW_US:
        return lambda: alone
    calls = len(layers) * max(1, GRAPH_CALLS // len(layers)) if alone < LONG_US else len(layers)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for i in range(calls):
            layers[i % len(layers)](x)
    return Recording(graph, calls, REPLAYS if alone < LONG_US else LONG_REPLAYS, (layers, x))


def microseconds(layers: Sequence[Callable[[Any], Any]], x: Any) -> float:
    """Time of one call on x bf16 [M, K], the layers taken in turn."""
    return record(layers, x)()


class WrongResult(Exception):
    """A result that is further from the product in float64 than rounding takes it."""


def record_product(
    problem: Any,
    layers: Sequence[Callable[[Any], Any]],
    m: int,
    finish: Callable[[Any, Any], Any] | None = None,
) -> Measure:
    """What measures one call with m tokens, the layers taken in turn. Raises WrongResult.

    `finish` makes the result bf16 [M, N] of x and of what a layer returns; it is not timed.
    """
    import torch
    from kernel_series import TOLERANCE

    x = torch.randn((m, problem.codes.shape[1]), device="cuda").bfloat16()
    y = layers[0](x)
    error = problem.error(x, finish(x, y) if finish else y)
    if not error <= TOLERANCE[problem.series.activation]:
        raise WrongResult(f"error {error:.2%}")
    return record(layers, x)


def in_both_orders(measures: Mapping[Key, Measure]) -> dict[Key, float]:
    """The means of two measurements each: all in their order, then all in the reverse order.

    A drift of the clock is thus the same for all, and none is always behind the same other.
    """
    times: dict[Key, list[float]] = {key: [] for key in measures}
    for key in (*measures, *reversed(tuple(measures))):
        times[key].append(measures[key]())
    return {key: statistics.mean(both) for key, both in times.items()}


def measure_floors() -> tuple[float, float]:
    """Read bandwidth in TB/s and the rate of bf16 products in TFLOP/s."""
    import torch
    from kernel_series import stage_kernels

    blocks = torch.cuda.get_device_properties(0).multi_processor_count * 8
    step = 8 * 256 * blocks * 16  # what the kernel reads at a time
    size = 2**30 // step * step
    source = torch.zeros(size // 4, dtype=torch.int32, device="cuda")
    out = torch.zeros(1, dtype=torch.int32, device="cuda")
    kernels = stage_kernels()

    def read(_: object) -> None:
        kernels.launch("read_all", (blocks, 1), (256, 1), source, out, size // 16)

    a, b = torch.randn((2, 8192, 8192), dtype=torch.bfloat16, device="cuda")
    read_us = microseconds([read], None)
    product_us = microseconds([lambda x: torch.mm(x, b.t())], a)
    return size / read_us / 1e6, 2 * 8192**3 / product_us / 1e6
