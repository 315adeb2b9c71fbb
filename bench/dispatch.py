# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Whether the kernel that runs is the fastest on this machine's GPU, around the dispatch's borders.

    python bench/dispatch.py --out dispatch.json

The operator, as it dispatches, beside what could run instead, in microseconds:

- up to 16 tokens (decode): the kernel beyond the border, which has tiles of 32 tokens: its time
  with 17;
- 17 to 32 tokens: decode all the same, in two calls with up to 16 tokens each; their results are
  not joined, as a kernel would write them side by side;
- 256 tokens and more: the weights unpacked into one buffer (bench/kernels/unpack.cu, in the time)
  and a dense product. 16-bit activations: bf16 with the scales multiplied in, the faster of
  cuBLAS and cuBLASLt. int8: int8 weights, vLLM's quantization of the activations and cuBLASLt's
  int32 sums; scaling these would come on top, so the time is the least that this way can take.
  Scales of groups cannot be multiplied into such sums: no such way.

What runs instead is bold where it is faster. Timed, checked and ordered as bench/kernels.py does
it; rows: n, k, m, activation, scale, way (ternary: as it ships; unpack: alone, m = 0), us.
"""

import argparse
import itertools
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dispatch_table import TOKENS, UNPACK, table
from kernel_table import SHAPES, Row, Series, parse_shapes, passes, select
from kernels import build_series, checked_microseconds, first_line, has_gpu, microseconds


def parse_arguments(argv: Sequence[str]) -> argparse.Namespace:
    """The command line. Ends the process with code 2 when it is wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", required=True, type=Path, help="JSON file for the rows")
    parser.add_argument("--shapes", nargs="+", metavar="NxK", help="(the eight of SHAPES)")
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds for it all")
    args = parser.parse_args(argv)
    try:
        args.shapes = parse_shapes(args.shapes) if args.shapes else list(SHAPES)
    except ValueError as fault:
        parser.error(str(fault))
    if not args.out.resolve().parent.is_dir():
        parser.error(f"{args.out}: there is no such folder")
    return args


def measure_way(problem: Any, way: Any, m: int) -> Row:
    """The row of one way. Raises what its kernels raise, and WrongResult."""
    if way.name == UNPACK:
        us = microseconds(way.layers, None)  # checked with the products that read it
    else:
        us = checked_microseconds(problem, way.layers, m, way.finish)
    n, k = problem.codes.shape
    series = problem.series
    key = {"n": n, "k": k, "m": m, "activation": series.activation, "scale": series.scale}
    return key | {"way": way.name, "us": round(us, 2)}


def measure_tokens(built: dict[Series, tuple[Any, list[Any]]], m: int) -> list[Row]:
    """The rows of one shape and number of tokens, those that are compared side by side."""
    rows = []
    for problem, found in built.values():
        for way in found:
            if m not in way.tokens:
                continue
            try:
                rows.append(measure_way(problem, way, m))
            except Exception as fault:
                # Of a library that is not ours, say: the rest is measured all the same.
                n, k = problem.codes.shape
                name = f"{way.name}/{problem.series.activation}/{problem.series.scale}"
                print(f"left out: {name} {n}x{k} M = {m}: {first_line(fault)}", flush=True)
    return rows


def main(argv: Sequence[str]) -> int:
    """Runs the benchmark; returns the exit code."""
    args = parse_arguments(argv)
    deadline = time.monotonic() + args.budget
    if not has_gpu():
        return 1
    import torch
    from dispatch_ways import ways

    print(torch.cuda.get_device_name(), flush=True)
    rows: list[Row] = []
    absent: set[Series] = set()
    for tokens, shape in itertools.product(passes([0, *TOKENS]), args.shapes):
        built = {
            series: (problem, ways(problem, layers))
            for series, (problem, layers) in build_series(
                select(["ternary"]), shape, TOKENS, absent
            ).items()
        }
        for m in tokens:
            if time.monotonic() > deadline:
                n, k = shape
                print(f"left out: {n}x{k} from M = {m} on: the budget is spent", flush=True)
                break
            rows += measure_tokens(built, m)
        del built
        torch.cuda.empty_cache()
        args.out.write_text(json.dumps(rows, indent=1) + "\n")
    order = {shape: i for i, shape in enumerate(args.shapes)}
    rows.sort(key=lambda r: order[r["n"], r["k"]])
    args.out.write_text(json.dumps(rows, indent=1) + "\n")
    if not rows:
        return 1
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
