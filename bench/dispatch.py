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
  and a dense product, the faster of two. 16-bit activations: bf16 with the scales multiplied in, by
  cuBLAS and cuBLASLt. int8: int8 weights and vLLM's quantization of the activations, then vLLM's
  CUTLASS product, which scales as it stores, and cuBLASLt, which leaves int32 sums: scaling these
  would come on top. Scales of groups cannot be multiplied into such sums: no such way.

Which kernel the operator takes beyond decode depends on the installed wheel's code, the GPU and the
groups: wgmma, or mma.sync, both with tiles of 32 tokens at least. The table is of what ran.

What runs instead is bold where it is faster. Timed, checked and ordered as bench/kernels.py does
it; rows: n, k, m, activation, scale, way (ternary: as it ships; unpack: alone, m = 0), us.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from typing import Any

from dispatch_table import TOKENS, UNPACK, table
from kernel_sweep import Built, Sweep, first_line, parse_sweep, sweep_parser
from kernel_table import Row, Shape, select
from kernel_timing import Measure, in_both_orders, record, record_product
from needs import need_gpu


def parse_arguments(argv: Sequence[str]) -> argparse.Namespace:
    """The command line. Ends the process with code 2 when it is wrong."""
    return parse_sweep(sweep_parser(__doc__), argv)


def record_way(problem: Any, way: Any, m: int) -> Measure:
    """What measures one way. Raises what its kernels raise, and WrongResult."""
    if way.name == UNPACK:
        return record(way.layers, None)  # checked with the products that read it
    return record_product(problem, way.layers, m, way.finish)


def measure_tokens(built: Built, shape: Shape, m: int, _: list[Row]) -> list[Row]:
    """The rows of all ways on one shape with m tokens; who has none is named."""
    n, k = shape
    measures = {}
    for series, (problem, found) in built.items():
        for way in found:
            if m not in way.tokens:
                continue
            key = series.activation, series.scale, way.name
            try:
                measures[key] = record_way(problem, way, m)
            except Exception as fault:
                # Of a library that is not ours, say: the rest is measured all the same.
                name = f"{way.name}/{series.activation}/{series.scale}"
                print(f"left out: {name} {n}x{k} M = {m}: {first_line(fault)}", flush=True)
    return [
        {"n": n, "k": k, "m": m}
        | {"activation": activation, "scale": scale, "way": way, "us": round(us, 2)}
        for (activation, scale, way), us in in_both_orders(measures).items()
    ]


def main(argv: Sequence[str]) -> int:
    """Runs the benchmark; returns the exit code."""
    args = parse_arguments(argv)
    deadline = time.monotonic() + args.budget
    sweep = Sweep(args.shapes, select(["ternary"]), [0, *TOKENS], deadline, args.out)
    need_gpu()
    import torch
    from dispatch_ways import ways

    print(torch.cuda.get_device_name(), flush=True)
    rows = sweep.run(ways, measure_tokens)
    if not rows:
        return 1
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
