# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Up to 16 tokens, activations far from zero, very large or very small are multiplied as any."""

import pytest
import torch
from ternary_ops import assert_exact, make_product, needs_gpu, reference

pytestmark = [pytest.mark.gpu, needs_gpu]


@pytest.mark.parametrize("group_size", [-1, 128])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("m", [1, 8, 16])
def test_a_common_offset(m: int, dtype: torch.dtype, group_size: int) -> None:
    product = make_product(m, 1040, 4096, dtype=dtype, group_size=group_size)
    product.x.add_(50.0)
    assert_exact(product.run(), product)


@pytest.mark.parametrize("group_size", [-1, 128])
@pytest.mark.parametrize("m", [1, 16])
def test_one_activation_a_thousand_times_the_others(m: int, group_size: int) -> None:
    product = make_product(m, 1040, 4096, group_size=group_size)
    product.x[:, 1234] = 2.0**10
    assert_exact(product.run(), product)


@pytest.mark.parametrize("exponent", [-64, -40, 40, 60])
@pytest.mark.parametrize("group_size", [-1, 128])
def test_magnitudes(group_size: int, exponent: int) -> None:
    product = make_product(4, 272, 1024, group_size=group_size)
    product.x.mul_(2.0**exponent)
    result = product.run().double() / 2.0**exponent
    expected, terms = (value / 2.0**exponent for value in reference(product))
    assert bool(((result - expected).abs() <= 2.0**-8 * expected.abs() + 2.0**-14 * terms).all())
