# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Up to 16 tokens, 16-bit activations that are small integers give exact sums, rounded once."""

import pytest
import torch
from ternary_ops import make_product, needs_gpu

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
