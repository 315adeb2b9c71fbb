# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Each bad argument is one line that names the tensor and the fault."""

from typing import Any

import pytest
import torch
from ternary_ops import OPS

SIZE_N, SIZE_K = 24, 256


def good() -> dict[str, Any]:
    """Arguments with no fault but that they are on the CPU."""
    return {
        "x": torch.zeros(3, SIZE_K, dtype=torch.float16),
        "weight": torch.zeros(2, 256, dtype=torch.int32),
        "scale": torch.ones(2, SIZE_N),
        "bias": torch.zeros(SIZE_N, dtype=torch.float16),
        "size_n": SIZE_N,
        "size_k": SIZE_K,
        "group_size": 128,
        "act_int8": False,
    }


FAULTS = [
    ("x", torch.zeros(3, SIZE_K), "x must be float16 or bfloat16, got float32"),
    ("x", torch.zeros(SIZE_K).half(), r"x must have shape \[M, size_k\].*got \[256\]"),
    ("x", torch.zeros(3, 128).half(), r"x must have shape .*got \[3, 128\]"),
    ("x", torch.zeros(SIZE_K, 3).half().t(), "x must be contiguous"),
    ("weight", torch.zeros(2, 256, dtype=torch.int8), "weight must be int32, got int8"),
    ("weight", torch.zeros(3, 256, dtype=torch.int32), r"weight must have shape .*got \[3, 256\]"),
    ("weight", torch.zeros(256, 2, dtype=torch.int32).t(), "weight must be contiguous"),
    ("scale", torch.ones(2, SIZE_N).double(), "scale must be float32 or .*got float64"),
    ("scale", torch.ones(SIZE_N, 2), r"scale must have shape .*\[2, 24\], got \[24, 2\]"),
    ("scale", torch.ones(SIZE_N, 2).t(), "scale must be contiguous"),
    ("bias", torch.zeros(SIZE_N).bfloat16(), "bias must be float16, got bfloat16"),
    ("bias", torch.zeros(8).half(), r"bias must have shape \[N\] = \[24\], got \[8\]"),
    ("size_n", 0, "size_n must be 1 to"),
    ("size_k", 250, "size_k must be a multiple of 8 .*got 250"),
    ("group_size", 48, "group_size must be -1 or a multiple of 32 .*got 48"),
    ("group_size", 96, "group_size must be .*divides size_k = 256, got 96"),
    ("group_size", 0, "group_size must be .*got 0"),
]


@pytest.mark.parametrize("op", ["ternary_gemm", "ternary_gemm_naive"])
@pytest.mark.parametrize(("name", "value", "message"), FAULTS)
def test_bad_argument_of_a_product(op: str, name: str, value: Any, message: str) -> None:
    arguments = good()
    arguments[name] = value
    with pytest.raises(RuntimeError, match=f"{op}: {message}") as raised:
        getattr(OPS, op)(*arguments.values())
    assert len(str(raised.value).splitlines()[0]) < 200


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (torch.zeros(4, 8), "weight must be int8, got float32"),
        (torch.zeros(8, dtype=torch.int8), r"weight must have shape \[N, K\], got \[8\]"),
        (torch.zeros(0, 8, dtype=torch.int8), "weight must have 1 to "),
        (torch.zeros(8, 4, dtype=torch.int8).t(), "weight must be contiguous"),
        (torch.full((4, 8), 2, dtype=torch.int8), r"weight\[0, 0\] is 2, not -1, 0 or 1"),
    ],
)
def test_bad_weight_to_pack(weight: torch.Tensor, message: str) -> None:
    with pytest.raises(RuntimeError, match=f"ternary_pack: {message}"):
        OPS.ternary_pack(weight)
