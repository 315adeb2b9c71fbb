# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Four ternary weights a byte against five (base 3): does the smaller form pay?

    python bench/packing.py --out packing.json

One token with int8 activations, the case in which unpacking has the least to hide behind: the same
streaming kernel with either packing (bench/kernels/packing.cu), on weights that exceed the L2
cache. Both results are checked to be exact. Needs a GPU and torch, nothing compiled.
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from needs import need, need_folder, need_gpu

need("torch")

import torch
from kernel_timing import measure_floors, microseconds
from nvrtc import Kernels

SOURCE = Path(__file__).parent / "kernels" / "packing.cu"
SHAPES = ((57344, 20480), (8192, 20480))  # k: what both packings divide
CODES = {"four_a_byte": 4, "five_a_byte": 5}
BLOCKS = range(1, 5)  # of a multiprocessor


def pack(codes: torch.Tensor, per_byte: int) -> torch.Tensor:
    """int8 codes [N, K] of 0, 1, 2 -> uint8 [N / 16, K / (32 per_byte), 32 lanes, 4 words, 4].

    The layout is drawn in packing.cu. N is a multiple of 16, K of 32 per_byte.
    """
    n, k = codes.shape
    units = k // (32 * per_byte)
    # [tile, row / 8, row % 8, unit, code, column / 16, column / 4 % 4, byte]
    parts = codes.view(n // 16, 2, 8, units, per_byte, 2, 4, 4).int()
    places = [1, 4, 16, 64] if per_byte == 4 else [81, 27, 9, 3, 1]
    value = sum(parts[:, :, :, :, j] * place for j, place in enumerate(places))
    if per_byte == 5:
        value = (value * 256 + 242) // 243
    # A lane is (row % 8, column / 4 % 4), a word (column / 16, row / 8).
    return value.permute(0, 3, 2, 5, 4, 1, 6).reshape(n // 16, units, 32, 4, 4).to(torch.uint8)


def measure(kernels: Kernels, name: str, codes: torch.Tensor, x: torch.Tensor) -> dict[str, Any]:
    """One row: the best number of blocks. Raises ArithmeticError if the result is not exact."""
    n, k = codes.shape
    packed = pack(codes, CODES[name])
    y = torch.empty(n, dtype=torch.int32, device="cuda")
    processors = torch.cuda.get_device_properties(0).multi_processor_count

    def layer(weight: torch.Tensor, blocks: int) -> Callable[[torch.Tensor], None]:
        grid = (blocks * processors, 1)
        return lambda x: kernels.launch(name, grid, (256, 1), weight, x, y, n, k, shared=k)

    copies = [packed, *(packed.clone() for _ in range(2))]
    us, blocks = min((microseconds([layer(c, b) for c in copies], x), b) for b in BLOCKS)
    if not torch.equal(y, ((codes - 1).double() @ x.double()).int()):
        raise ArithmeticError(f"{name} {n}x{k}: wrong result")
    figures = {"tb_s": round(packed.numel() / us / 1e6, 3), "weights_ns": round(n * k / us / 1e3)}
    return {"n": n, "k": k, "packing": name, "us": round(us, 2), "blocks": blocks} | figures


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", required=True, type=Path, help="JSON file for the rows")
    args = parser.parse_args()
    need_folder(parser, args.out)
    need_gpu()
    kernels = Kernels(SOURCE.read_text())
    print(f"{torch.cuda.get_device_name()}: reads {measure_floors()[0]:.2f} TB/s")
    rows = []
    for n, k in SHAPES:
        codes = torch.randint(0, 3, (n, k), device="cuda", dtype=torch.int8)
        x = torch.randint(-127, 128, (k,), device="cuda", dtype=torch.int8)
        try:
            rows += [measure(kernels, name, codes, x) for name in CODES]
        except ArithmeticError as fault:
            print(f"error: {fault}", file=sys.stderr)
            return 1
    print(*rows, sep="\n")
    args.out.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
