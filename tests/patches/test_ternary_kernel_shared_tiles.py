# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Tiles of which several blocks multiply a part of K each are whole and right.

The shapes are ones that the plans for an H200 cut so; the result holds on any GPU.
"""

import pytest
import torch
from ternary_ops import assert_exact, make_product, needs_gpu

pytestmark = [pytest.mark.gpu, needs_gpu]


@pytest.mark.parametrize("act_int8", [False, True])
@pytest.mark.parametrize("group_size", [-1, 128])
@pytest.mark.parametrize("m", [17, 64, 130])
def test_a_few_tiles_more_than_blocks(m: int, group_size: int, act_int8: bool) -> None:
    blocks = torch.cuda.get_device_properties(0).multi_processor_count
    n = 256 * (blocks + 4) - 8
    product = make_product(m, n, 1024, group_size=group_size, act_int8=act_int8, bias=True)
    assert_exact(product.run(), product)


@pytest.mark.parametrize("act_int8", [False, True])
@pytest.mark.parametrize(
    "shape", [(96, 4096, 4096), (300, 1533, 4104), (250, 1533, 8968), (300, 1536, 4096)]
)
def test_fewer_tiles_than_blocks(shape: tuple[int, int, int], act_int8: bool) -> None:
    product = make_product(*shape, act_int8=act_int8, dtype=torch.float16)
    assert_exact(product.run(), product)


@pytest.mark.parametrize("scale_dtype", [torch.bfloat16, torch.float32])
def test_group_scales(scale_dtype: torch.dtype) -> None:
    product = make_product(96, 4096, 4096, group_size=256, scale_dtype=scale_dtype)
    assert_exact(product.run(), product)
