# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The same arguments give the same bits, run after run."""

import pytest
import torch
from ternary_ops import make_product, needs_gpu

pytestmark = [pytest.mark.gpu, needs_gpu]


@pytest.mark.parametrize("act_int8", [False, True])
@pytest.mark.parametrize(
    ("group_size", "scale_dtype"),
    [(-1, torch.float32), (128, torch.float32), (128, torch.bfloat16)],
)
@pytest.mark.parametrize("m", [1, 16, 40, 200])
@pytest.mark.parametrize("shape", [(1536, 8960), (2048, 512)])
def test_same_bits(
    shape: tuple[int, int], m: int, group_size: int, scale_dtype: torch.dtype, act_int8: bool
) -> None:
    product = make_product(
        m, *shape, group_size=group_size, act_int8=act_int8, scale_dtype=scale_dtype
    )
    packed = product.packed
    first = product.run(packed)
    for _ in range(20):
        assert torch.equal(product.run(packed), first)
