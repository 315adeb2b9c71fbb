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
exceed the L2 cache twice; int8 activations are quantized inside the graph. Each is measured twice,
the median of five replays (three where a call takes over a millisecond), and a row is the mean.
TB/s counts the bytes of the weights' codes as the kernel stores them. The floor is the larger of
the time to read 2-bit weights at the read bandwidth, and of the matrix work at the bf16 rate,
both measured in the same run. (The int8 rate is twice bf16's, so int8 can pass the floor.)

Humming compiles kernels for each shape; those for the chosen numbers of tokens are compiled at the
start, on all processors. (It is a requirement of vLLM's; without vLLM: `pip install
"humming-kernels[cu13]"`.) At the end stands what kernel_goals.py makes of the rows.

Up to 64 tokens come first, for all shapes, then up to 256, then more: after a second of large
products the H200's clock is a quarter lower, and ours took up to 16 % longer with one token, and
10 % with 128 (28672x4096). All kernels of a shape are on the GPU at once, and each number of tokens
is measured with all of them before the next, in their order and then in the reverse order: what is
compared was measured within seconds, and in the mean at the same time. In one order alone each
would find the clock that its neighbour left.

The rows are saved as they come; --budget ends the run in time and names what is left. Without any
row nothing is written, and the exit code is 1.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from kernel_goals import report
from kernel_sweep import Built, Sweep, first_line, parse_sweep, sweep_parser
from kernel_table import (
    SERIES,
    TOKENS,
    Row,
    Shape,
    found_form,
    make_row,
    of_series,
    select,
    speedups,
    table,
    too_long,
)
from kernel_timing import SLOW_US, in_both_orders, measure_floors, record_product
from needs import need_folder, need_gpu


def parse_arguments(argv: Sequence[str]) -> argparse.Namespace:
    """The command line. Ends the process with code 2 when it is wrong."""
    parser = sweep_parser(__doc__)
    parser.add_argument("--plot", type=Path, help="image file (needs matplotlib)")
    parser.add_argument("--m", nargs="+", type=int, default=list(TOKENS), help="tokens")
    parser.add_argument(
        "--kernels", nargs="+", metavar="NAME", help=f"or {found_form()} (all of them)"
    )
    args = parse_sweep(parser, argv)
    try:
        args.series = select(args.kernels) if args.kernels else list(SERIES)
    except ValueError as fault:
        parser.error(str(fault))
    if args.plot:
        need_folder(parser, args.plot)
    if min(args.m) < 1:
        parser.error("--m: at least one token is needed")
    args.m = sorted(set(args.m))
    return args


class TooLong(Exception):
    """A series that takes too long with so many tokens to be timed."""


def measure_tokens(built: Built, shape: Shape, m: int, earlier: list[Row]) -> list[Row]:
    """The rows of all series on one shape with m tokens; who has none is named and given up."""
    n, k = shape
    measures = {}
    for series, (problem, layers) in tuple(built.items()):
        try:
            long = too_long(of_series(earlier, series, shape), m, SLOW_US)
            if long is not None:
                raise TooLong(f"{long / 1e3:.0f} ms a call")
            measures[series] = record_product(problem, layers, m)
        except Exception as fault:
            del built[series]
            why = f"from M = {m} on: {first_line(fault)}"
            print(f"left out: {series.name} {n}x{k} {why}", flush=True)
    return [make_row(series, n, k, m, us) for series, us in in_both_orders(measures).items()]


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
    sweep = Sweep(args.shapes, args.series, args.m, deadline, args.out)
    need_gpu()
    import torch
    from kernel_series import build, compile_humming

    begin = time.monotonic()
    builds = 0 if sweep.is_over() else compile_humming(args.series, args.shapes, args.m)
    if builds:
        seconds = time.monotonic() - begin
        print(f"Humming: {builds} kernels compiled in {seconds:.0f} s", flush=True)
    tb_s, tflop_s = measure_floors()
    print(f"{torch.cuda.get_device_name()}: reads {tb_s:.2f} TB/s, bf16 {tflop_s:.0f} TFLOP/s")
    rows = sweep.run(build, measure_tokens)
    if not rows:
        return 1
    print(table(rows, tb_s, tflop_s))
    print(report(rows, tb_s, tflop_s))
    if args.plot and not plot(rows, tb_s, tflop_s, args.plot):
        print("left out: the plot: matplotlib is not installed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
