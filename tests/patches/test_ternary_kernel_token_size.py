# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A token of huge or tiny activations is as exact as any: powers of two pass through."""

import pytest
import torch
from ternary_ops import make_product, needs_gpu

pytestmark = [pytest.mark.gpu, needs_gpu]


@pytest.mark.parametrize("group_size", [-1, 128])
@pytest.mark.parametrize("m", [1, 4, 8, 16])
def test_powers_of_two_pass(m: int, group_size: int) -> None:
    product = make_product(m, 272, 1024, group_size=group_size)
    product.scale.copy_(product.scale.bfloat16() * 64)
    plain = product.run()
    # Each token has a size of its own.
    size = torch.exp2(torch.linspace(-40, 50, m, device="cuda").round())[:, None]
    product.x.copy_((product.x.float() * size).bfloat16())
    assert torch.equal(product.run().float(), plain.float() * size)


def test_zero_tokens_give_zero() -> None:
    product = make_product(3, 272, 1024)
    product.x[1] = 0
    result = product.run()
    assert not result[1].any()
    assert result[0].any()
    assert result[2].any()
