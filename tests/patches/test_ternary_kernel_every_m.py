# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Every number of tokens is right, on both sides of each tile's and each kernel's limit."""

import pytest
import torch
from ternary_ops import assert_exact, make_product, needs_gpu

pytestmark = [pytest.mark.gpu, needs_gpu]

COUNTS = [*range(1, 71), 127, 128, 129, 255, 256, 257, 2047, 2048, 2049, 4096]


@pytest.mark.parametrize("act_int8", [False, True])
@pytest.mark.parametrize("group_size", [-1, 128])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_every_token_count(dtype: torch.dtype, group_size: int, act_int8: bool) -> None:
    whole = make_product(max(COUNTS), 1040, 1024, dtype, group_size=group_size, act_int8=act_int8)
    packed = whole.packed
    for count in COUNTS:
        product = whole.first(count)
        assert_exact(product.run(packed), product)


def test_no_tokens() -> None:
    product = make_product(0, 64, 256)
    assert product.run().shape == (0, 64)
    assert product.run().dtype == torch.bfloat16
