# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Up to 16 tokens, activations that are small integers give exact sums, rounded once."""

from dataclasses import replace

import pytest
import torch
from ternary_ops import Product, make_product, needs_gpu

pytestmark = [pytest.mark.gpu, needs_gpu]


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 8, 9, 16])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_integers_are_exact(m: int, dtype: torch.dtype) -> None:
    product = make_product(m, 1040, 4096, dtype=dtype)
    product.x.copy_(torch.randint(-128, 129, product.x.shape, device="cuda"))
    product.scale.fill_(1.0)
    # Sums below 2**24 in float32, so the conversion rounds once.
    expected = (product.x.double() @ product.codes.double().t()).float().to(dtype)
    assert torch.equal(product.run(), expected)


def patterns(k: int) -> torch.Tensor:
    """Rows of -1, 0 and 1 whose sums of products are as large as can be, or cancel."""
    column = torch.arange(k, device="cuda")
    one, first, last = torch.ones_like(column), (column == 0).long(), (column == k - 1).long()
    parts = [1 - part * 2 for part in (column % 2, column * 2 // k, column // 128 % 2)]
    return torch.stack([one, -one, 0 * one, *parts, first, -last, first - last])


@pytest.mark.parametrize("group_size", [-1, 128])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
# The third has a measured plan, of slices and clusters; the last has as many columns as may be.
@pytest.mark.parametrize("shape", [(41, 1024), (41, 28672), (8192, 28672), (41, 131072)])
def test_extreme_int8_sums_are_exact(
    shape: tuple[int, int], dtype: torch.dtype, group_size: int
) -> None:
    n, k = shape
    rows = torch.cat([patterns(k), torch.randint(-1, 2, (4, k), device="cuda")])
    row_of = torch.arange(n, device="cuda") % len(rows)
    others = torch.randint(-127, 128, (7, k), device="cuda")
    others[0] = -1
    others[:, k // 2] = 127
    # A token's largest value is 127, or it is 0, so quantization leaves it as it is.
    tokens = torch.cat([127 * patterns(k), others])
    # Each has a size of its own, which fits fp16 with all its sums.
    size = torch.exp2(-8.0 - torch.arange(16, device="cuda") % 7)[:, None]
    x = (tokens * size).to(dtype)
    # Sums below 2**24 in float32, so the conversion rounds once.
    sums = tokens.double() @ rows.double().t()
    expected = (sums * size).float().to(dtype)[:, row_of]
    scale = torch.ones(1 if group_size == -1 else k // group_size, n, device="cuda")
    codes = rows.to(torch.int8)[row_of]
    product = Product(x, codes, scale, None, group_size, act_int8=True)
    packed = product.packed
    for count in range(1, 17):
        for part, sums_of_part in zip(x.split(count), expected.split(count), strict=True):
            assert torch.equal(replace(product, x=part).run(packed), sums_of_part)
