# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Time of the ternary kernels beside what else multiplies low-bit weights, on this machine's GPU.

    python bench/kernels.py --out kernels.json --plot kernels.png
    python bench/kernels.py --out k.json --shapes 28672x4096 --m 1 16 --kernels ternary cublas_bf16

Kernels: `ternary` (ours), `cublas_bf16`, vLLM's `marlin_w4a16` and `marlin_w4a8`, `humming_w2a16`,
`humming_w2a8` and `humming_bitnet`, and three textbook stages on weights of a byte each, `naive`,
`tiled` (shared memory) and `lut` (a table of the sums of four activations). Nothing need be
compiled beforehand: the stages are compiled in the process. A kernel that is not there is named
and left out, and so is one whose result is wrong: each is checked against a product in float64
before it is timed.

Microseconds a call: a CUDA graph of calls that rotate over copies of the weights which together
exceed the L2 cache twice, median of nine replays (five where a call takes over a millisecond);
int8 activations are quantized inside the graph.
TB/s counts the bytes of the weights' codes as the kernel stores them. The floor is the larger of
the time to read 2-bit weights at the read bandwidth, and of the matrix work at the bf16 rate,
both measured in the same run. (The int8 rate is twice bf16's, so int8 can pass the floor.)

Humming compiles kernels for each shape; those for the chosen numbers of tokens are compiled at the
start, on all processors. (It is a requirement of vLLM's; without vLLM: `pip install
"humming-kernels[cu13]"`.) At the end stands what kernel_goals.py makes of the rows.

Up to 64 tokens come first, for all shapes, then up to 256, then more: after a second of large
products the H200's clock is a quarter lower, and ours took up to 16 % longer with one token, and
10 % with 128 (28672x4096). All kernels of a shape are on the GPU at once, and each number of tokens
is measured with all of them before the next: what is compared was measured within seconds.

The rows are saved as they come; --budget ends the run in time and names what is left.
"""

import argparse
import itertools
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from kernel_goals import report
from kernel_table import (
    SERIES,
    SHAPES,
    TOKENS,
    Row,
    Series,
    Shape,
    found_form,
    make_row,
    of_series,
    parse_shapes,
    passes,
    select,
    speedups,
    table,
    too_long,
)

REPLAYS, SLOW_REPLAYS = 9, 5  # the latter of calls longer than LONG_US
LONG_US = 1000
GRAPH_CALLS = 24  # long enough that the launch of a graph does not count
SLOW_US = 20_000  # a call that takes longer is timed once, and not at more tokens


def parse_arguments(argv: Sequence[str]) -> argparse.Namespace:
    """The command line. Ends the process with code 2 when it is wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", required=True, type=Path, help="JSON file for the rows")
    parser.add_argument("--plot", type=Path, help="image file (needs matplotlib)")
    parser.add_argument("--shapes", nargs="+", metavar="NxK", help="(the eight of SHAPES)")
    parser.add_argument("--m", nargs="+", type=int, default=list(TOKENS), help="tokens")
    parser.add_argument(
        "--kernels", nargs="+", metavar="NAME", help=f"or {found_form()} (all of them)"
    )
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds for it all")
    args = parser.parse_args(argv)
    try:
        args.shapes = parse_shapes(args.shapes) if args.shapes else list(SHAPES)
        args.series = select(args.kernels) if args.kernels else list(SERIES)
    except ValueError as fault:
        parser.error(str(fault))
    for path in filter(None, (args.out, args.plot)):
        if not path.resolve().parent.is_dir():
            parser.error(f"{path}: there is no such folder")
    if min(args.m) < 1:
        parser.error("--m: at least one token is needed")
    args.m = sorted(set(args.m))
    return args


def has_gpu() -> bool:
    """Whether torch finds an NVIDIA GPU; otherwise it is said."""
    try:
        import torch
    except ImportError:
        torch = None
    if torch is not None and torch.cuda.is_available():
        return True
    print("error: no NVIDIA GPU found through torch", file=sys.stderr)
    return False


def microseconds(layers: list[Any], x: Any) -> float:
    """Time of one call on x bf16 [M, K], the layers taken in turn."""
    import torch

    def once(run: Any) -> float:
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        run()
        end.record()
        end.synchronize()
        return float(begin.elapsed_time(end)) * 1e3

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for layer in layers:
            layer(x)
        stream.synchronize()
        alone = once(lambda: layers[0](x))
    if alone > SLOW_US:
        return alone
    calls = len(layers) * max(1, GRAPH_CALLS // len(layers)) if alone < LONG_US else len(layers)
    replays = REPLAYS if alone < LONG_US else SLOW_REPLAYS
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for i in range(calls):
            layers[i % len(layers)](x)
    graph.replay()
    return statistics.median(once(graph.replay) / calls for _ in range(replays))


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


class WrongResult(Exception):
    """A result that is further from the product in float64 than rounding takes it."""


def checked_microseconds(
    problem: Any, layers: list[Any], m: int, finish: Callable[[Any, Any], Any] | None = None
) -> float:
    """Time of one call with m tokens, the layers taken in turn. Raises WrongResult.

    `finish` makes the result bf16 [M, N] of x and of what a layer returns; it is not timed.
    """
    import torch
    from kernel_series import TOLERANCE

    x = torch.randn((m, problem.codes.shape[1]), device="cuda").bfloat16()
    y = layers[0](x)
    error = problem.error(x, finish(x, y) if finish else y)
    if not error <= TOLERANCE[problem.series.activation]:
        raise WrongResult(f"error {error:.2%}")
    return microseconds(layers, x)


def first_line(fault: Exception) -> str:
    """A fault as one line of the report."""
    return f"{type(fault).__name__}: {(str(fault).splitlines() or [''])[0]}"


def build_series(
    chosen: Sequence[Series], shape: Shape, tokens: Sequence[int], absent: set[Series]
) -> dict[Series, tuple[Any, list[Any]]]:
    """Problem and layers of each series on one shape; who is Absent is named, and added to it.

    `tokens` are those of the whole run: Humming makes its choices for a shape once.
    """
    from kernel_series import Absent, build, make_problem

    built = {}
    for series in chosen:
        if series in absent:
            continue
        try:
            problem = make_problem(series, *shape, tokens)
            built[series] = problem, build(problem)
        except Absent as fault:
            absent.add(series)
            print(f"left out: {series.name}: {fault}", flush=True)
        except Exception as fault:
            # A peer's own error, whatever it is: the others are measured all the same.
            n, k = shape
            print(f"left out: {series.name} {n}x{k}: {first_line(fault)}", flush=True)
    return built


def measure_point(problem: Any, layers: list[Any], m: int, earlier: list[Row]) -> Row | str:
    """The row of one series, or why there is none; `earlier` are its rows of fewer tokens."""
    long = too_long(earlier, m, SLOW_US)
    if long is not None:
        return f"from M = {m} on: {long / 1e3:.0f} ms a call"
    n, k = problem.codes.shape
    try:
        return make_row(problem.series, n, k, m, checked_microseconds(problem, layers, m))
    except Exception as fault:
        return f"from M = {m} on: {first_line(fault)}"


def measure_shape(
    built: dict[Series, tuple[Any, list[Any]]],
    shape: Shape,
    tokens: Sequence[int],
    earlier: list[Row],
    deadline: float,
) -> list[Row]:
    """Rows of one shape, all series with one number of tokens before the next; says what lacks."""
    n, k = shape
    rows: list[Row] = []
    for m in tokens:
        if time.monotonic() > deadline:
            print(f"left out: {n}x{k} from M = {m} on: the budget is spent", flush=True)
            break
        for series, (problem, layers) in tuple(built.items()):
            own = of_series([*earlier, *rows], series, shape)
            found = measure_point(problem, layers, m, own)
            if isinstance(found, str):
                del built[series]
                print(f"left out: {series.name} {n}x{k} {found}", flush=True)
            else:
                rows.append(found)
    return rows


def plot(rows: list[Row], tb_s: float, tflop_s: float, out: Path) -> bool:
    """Roofline, and speed-up over the fastest peer; False without matplotlib."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (roof, gain) = plt.subplots(1, 2, figsize=(13, 5.5))
    tokens = sorted({r["m"] for r in rows})
    # Operations a byte of 2-bit weights: 8 m.
    roof.plot(tokens, [min(8 * m * tb_s, tflop_s) for m in tokens], "k--", label="floor")
    n, k = max(((r["n"], r["k"]) for r in rows), key=lambda s: s[0] * s[1])
    for series in SERIES:
        points = of_series(rows, series, (n, k))
        if points:
            xs, ys = [r["m"] for r in points], [r["tflop_s"] for r in points]
            style = "s:" if series.bits == 8 else "o-"  # the stages
            roof.plot(xs, ys, style, markersize=3, label=series.name)
    roof.set(xscale="log", yscale="log", xlabel="tokens", ylabel="TFLOP/s", title=f"{n}x{k}")
    roof.legend(fontsize=7)
    for activation, style in (("a16", "-"), ("int8", "--")):
        for i, (shape, points) in enumerate(speedups(rows, activation, "channel").items()):
            label = f"{shape[0]}x{shape[1]} {activation}"
            gain.plot(list(points), list(points.values()), style, color=f"C{i}", label=label)
    gain.axhline(1.0, color="black", linewidth=0.8)
    gain.set(xscale="log", xlabel="tokens", ylabel="time of the fastest peer / ours")
    gain.legend(fontsize=7)
    for axes in (roof, gain):
        axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(out, dpi=120)
    return True


def main(argv: Sequence[str]) -> int:
    """Runs the benchmark; returns the exit code."""
    args = parse_arguments(argv)
    deadline = time.monotonic() + args.budget
    if not has_gpu():
        return 1
    import torch
    from kernel_series import compile_humming

    begin = time.monotonic()
    builds = compile_humming(args.series, args.shapes, args.m)
    if builds:
        seconds = time.monotonic() - begin
        print(f"Humming: {builds} kernels compiled in {seconds:.0f} s", flush=True)
    tb_s, tflop_s = measure_floors()
    print(f"{torch.cuda.get_device_name()}: reads {tb_s:.2f} TB/s, bf16 {tflop_s:.0f} TFLOP/s")
    rows: list[Row] = []
    absent: set[Series] = set()
    # A budget that is too small ends with the larger products of the last shapes missing.
    for tokens, shape in itertools.product(passes(args.m), args.shapes):
        built = build_series(args.series, shape, args.m, absent)
        rows += measure_shape(built, shape, tokens, rows, deadline)
        del built
        torch.cuda.empty_cache()
        args.out.write_text(json.dumps(rows, indent=1) + "\n")
    order = {shape: i for i, shape in enumerate(args.shapes)}
    rows.sort(key=lambda r: (order[r["n"], r["k"]], r["m"]))
    args.out.write_text(json.dumps(rows, indent=1) + "\n")
    print(table(rows, tb_s, tflop_s))
    print(report(rows, tb_s, tflop_s))
    if args.plot and rows and not plot(rows, tb_s, tflop_s, args.plot):
        print("left out: the plot: matplotlib is not installed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
