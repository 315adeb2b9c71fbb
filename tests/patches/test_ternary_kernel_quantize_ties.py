# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Activations become the int8 values of the rule, also halfway between two of them."""

import pytest
import torch
from ternary_ops import OPS, needs_gpu

pytestmark = [pytest.mark.gpu, needs_gpu]

BINADES = 9  # below the largest magnitude; what is smaller becomes 0


def tokens_of(dtype: torch.dtype, largest: list[float]) -> torch.Tensor:
    """A token for each largest magnitude, of all values from it down over BINADES."""
    bits = 7 if dtype == torch.bfloat16 else 10
    mantissas = torch.arange(2**bits, 2 ** (bits + 1), dtype=torch.float64) / 2**bits
    values = torch.cat([mantissas * 2.0**-e for e in range(BINADES)])
    values[1::2] *= -1
    top = torch.tensor(largest, dtype=torch.float64)[:, None]
    return (
        torch.where(values.abs() <= top, values, 0)
        .index_put(
            (torch.arange(len(largest)), torch.zeros(len(largest), dtype=torch.long)), top[:, 0]
        )
        .to(dtype)
        .cuda()
    )


@pytest.mark.parametrize(
    ("dtype", "largest"),
    [
        (torch.bfloat16, [1 + i / 128 for i in range(0, 128, 7)] + [254 / 128]),
        # Multiples of 127 / 1024: there the quotient is halfway for many values.
        (torch.float16, [127 * n / 1024 for n in range(9, 17)] + [1.0, 1.5, 2047 / 1024]),
    ],
    ids=["bf16", "fp16"],
)
@pytest.mark.parametrize("at_once", [1, 100], ids=["alone", "together"])
def test_halfway_goes_to_even(dtype: torch.dtype, largest: list[float], at_once: int) -> None:
    x = tokens_of(dtype, largest)
    k = x.shape[1]
    packed = OPS.ternary_pack(torch.eye(k, dtype=torch.int8, device="cuda"))
    one = torch.ones(1, k, device="cuda")
    result = torch.cat(
        [OPS.ternary_gemm(part, packed, one, None, k, k, -1, True) for part in x.split(at_once)]
    )
    top = x.double().abs().amax(dim=1, keepdim=True)
    expected = torch.round(x.double() * 127 / top)
    assert torch.equal(torch.round(result.double() * 127 / top), expected)
