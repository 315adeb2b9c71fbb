# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Time of int4 Marlin layers: 16-bit against int8 activations, symmetric against zero points.

    python bench/marlin_int8_speed.py --out marlin-int8-speed.json --plot marlin-int8-speed.png

Each figure is microseconds a call: a CUDA graph of calls that rotate over copies of the layer
which together exceed the L2 cache, median of nine replays; int8 activations are quantized inside
the graph. One row a shape and number of tokens m, group size 128, bf16:

    kernel       symmetric    codes with the fixed zero point 8: positive group scales
                 zero-point   half of the group scales negative with int8 activations (the patch
                              then stores zero points); a checkpoint with zero points with 16 bits
    activation   a16 or int8

With int8 activations and positive scales the server takes the faster of the two by the number of
tokens; here each is measured for all of them.
"""

import argparse
import json
import math
import os
import statistics
import sys
from pathlib import Path
from typing import Any

os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")

from needs import need, need_folder

need("torch", "vllm")

import torch
from marlin_layer import PATCHED, MarlinLayer, random_weights
from vllm.model_executor.layers.quantization.utils import marlin_utils
from vllm.v1.worker.workspace import init_workspace_manager

GROUP = 128
SHAPES = [(17408, 5120), (5120, 17408), (28672, 4096), (4096, 14336)]
TOKENS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]
REPLAYS = 9
COPIES_PER_L2 = 2  # how often the copies fill the L2 cache
SERIES: dict[tuple[str, str], tuple[torch.dtype, dict[str, Any]]] = {
    ("symmetric", "a16"): (torch.bfloat16, {}),
    ("zero-point", "a16"): (torch.bfloat16, {"asymmetric": True}),
    ("symmetric", "int8"): (torch.int8, {}),
    ("zero-point", "int8"): (torch.int8, {"negative": 0.5}),
}


def microseconds(layers: list[MarlinLayer], x: torch.Tensor, stream: torch.cuda.Stream) -> float:
    """Time of one call on x bf16 [M, K], the layers taken in turn."""
    # Long enough that a launch does not count, each copy as often as the others.
    calls = len(layers) * max(1, 24 // len(layers))
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for layer in layers:
            layer(x)
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for i in range(calls):
            layers[i % len(layers)](x)
    graph.replay()
    times = []
    for _ in range(REPLAYS):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / calls)
    return statistics.median(times)


def measure() -> list[dict[str, Any]]:
    """Rows of every shape, series and number of tokens."""
    # As in the server: without it, each call would allocate and clear the kernel's locks.
    init_workspace_manager(torch.device("cuda", torch.cuda.current_device()))
    # Positive scales: the symmetric kernel for every number of tokens.
    marlin_utils.MARLIN_INT8_ZP_MIN_TOKENS = sys.maxsize
    stream = torch.cuda.Stream()
    l2 = torch.cuda.get_device_properties(0).L2_cache_size
    rows = []
    for n, k in SHAPES:
        copies = math.ceil(COPIES_PER_L2 * l2 / (n * k / 2)) + 1
        for (kernel, activation), (dtype, options) in SERIES.items():
            weights = random_weights(n, k, k // GROUP, **options)
            layers = [MarlinLayer(weights, dtype) for _ in range(copies)]
            for m in TOKENS:
                x = torch.randn((m, k), device="cuda").bfloat16()
                rows.append(
                    {
                        "n": n,
                        "k": k,
                        "m": m,
                        "kernel": kernel,
                        "activation": activation,
                        "us": round(microseconds(layers, x, stream), 2),
                    }
                )
    return rows


def by_m(rows: list[dict[str, Any]], n: int, k: int) -> dict[int, dict[tuple[str, str], float]]:
    """Tokens -> series -> microseconds, of one shape."""
    times: dict[int, dict[tuple[str, str], float]] = {}
    for r in rows:
        if (r["n"], r["k"]) == (n, k):
            times.setdefault(r["m"], {})[r["kernel"], r["activation"]] = r["us"]
    return times


def table(rows: list[dict[str, Any]]) -> str:
    """A line a shape and m; ratios under 1: int8, or the zero-point kernel, is faster."""
    names = [" ".join(series) for series in SERIES]
    head = f"{'N x K':<12}{'M':>5}" + "".join(f"{name:>17}" for name in names)
    lines = [head + f"{'int8 / a16':>12}{'int8 zp / sym':>15}"]
    for n, k in SHAPES:
        for m, t in by_m(rows, n, k).items():
            int8, a16 = t["symmetric", "int8"], t["symmetric", "a16"]
            lines.append(
                f"{f'{n}x{k}':<12}{m:>5}"
                + "".join(f"{t[series]:>17.1f}" for series in SERIES)
                + f"{int8 / a16:>12.2f}{t['zero-point', 'int8'] / int8:>15.2f}"
            )
    return "\n".join(lines)


def plot(rows: list[dict[str, Any]], out: Path) -> None:
    """Time relative to the symmetric kernel with 16-bit activations, over the tokens."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(2, 2, figsize=(10, 7), sharex=True, sharey=True)
    for (n, k), axes in zip(SHAPES, panels.flat, strict=True):
        times = by_m(rows, n, k)
        for kernel, activation in SERIES:
            ratios = [t[kernel, activation] / t["symmetric", "a16"] for t in times.values()]
            style = "--" if kernel == "zero-point" else "-"
            color = "tab:orange" if activation == "int8" else "tab:blue"
            axes.plot(list(times), ratios, style, color=color, label=f"{activation}, {kernel}")
        axes.set_xscale("log", base=2)
        axes.set_title(f"N x K = {n} x {k}")
        axes.grid(alpha=0.3)
    figure.supxlabel("tokens")
    figure.supylabel("time / time of W4A16, symmetric")
    panels[0, 0].legend()
    figure.tight_layout()
    figure.savefig(out, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", required=True, type=Path, help="JSON file for the rows")
    parser.add_argument("--plot", type=Path, help="image file (needs matplotlib)")
    args = parser.parse_args()
    need_folder(parser, args.out)
    if args.plot:
        need_folder(parser, args.plot)
    if not torch.cuda.is_available():
        sys.exit("error: no NVIDIA GPU found; Marlin runs on nothing else")
    if not PATCHED:
        sys.exit("error: the installed vLLM has no zero points for negative scales: not our wheel")
    rows = measure()
    args.out.write_text(json.dumps(rows, indent=1) + "\n")
    print(table(rows))
    if args.plot:
        plot(rows, args.plot)


if __name__ == "__main__":
    main()
