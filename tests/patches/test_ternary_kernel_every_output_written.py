# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Every output is written: memory full of NaN shows none in the result."""

import pytest
import torch
from ternary_ops import assert_exact, make_product, needs_gpu

pytestmark = [pytest.mark.gpu, needs_gpu]


@pytest.mark.parametrize("act_int8", [False, True])
@pytest.mark.parametrize("m", [1, 16, 33, 200])
def test_poisoned_memory(m: int, act_int8: bool) -> None:
    product = make_product(m, 1000, 5120, act_int8=act_int8)
    packed = product.packed
    # The allocator hands these blocks out again, as output and workspace.
    poison = [torch.full((size,), float("nan"), device="cuda") for size in (m * 500, 1 << 22)]
    del poison
    assert_exact(product.run(packed), product)
