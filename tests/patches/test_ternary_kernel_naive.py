# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The reference kernel agrees with float64, so the fast ones may be held against it."""

import pytest
import torch
from ternary_ops import assert_exact, make_product, needs_gpu

pytestmark = [pytest.mark.gpu, needs_gpu]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("act_int8", [False, True])
@pytest.mark.parametrize("group_size", [-1, 32, 96])
def test_naive(group_size: int, act_int8: bool, dtype: torch.dtype) -> None:
    product = make_product(5, 300, 480, dtype, group_size=group_size, act_int8=act_int8, bias=True)
    assert_exact(product.run(naive=True), product)


@pytest.mark.parametrize("act_int8", [False, True])
def test_fast_equals_naive_where_sums_are_exact(act_int8: bool) -> None:
    """Small integers and scales of one leave nothing to round before the output."""
    product = make_product(20, 300, 512, torch.float16, act_int8=act_int8)
    product.x.copy_(torch.randint(-8, 9, product.x.shape, device="cuda"))
    product.x[:, 0] = 127  # the scale of int8 activations is one
    product.scale.fill_(1)
    assert torch.equal(product.run(), product.run(naive=True))
