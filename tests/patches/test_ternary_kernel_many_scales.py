# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Up to 16 tokens: groups so many that their scales do not fit in shared memory all at once."""

import pytest
import torch
from ternary_ops import assert_exact, make_product, needs_gpu

pytestmark = [pytest.mark.gpu, needs_gpu]


@pytest.mark.parametrize("act_int8", [False, True])
@pytest.mark.parametrize(("n", "scale_dtype"), [(32776, torch.float32), (65544, torch.bfloat16)])
@pytest.mark.parametrize("m", [1, 16])
def test_small_groups_of_a_large_layer(
    m: int, n: int, scale_dtype: torch.dtype, act_int8: bool
) -> None:
    product = make_product(m, n, 8192, group_size=32, act_int8=act_int8, scale_dtype=scale_dtype)
    assert_exact(product.run(), product)
