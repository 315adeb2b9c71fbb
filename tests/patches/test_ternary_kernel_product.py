# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The fast kernels agree with float64 for every kind of scale, activation, dtype and shape."""

from dataclasses import replace

import pytest
import torch
from ternary_ops import assert_exact, make_product, needs_gpu

pytestmark = [pytest.mark.gpu, needs_gpu]

DTYPES = [torch.float16, torch.bfloat16]
# Rows and columns that fill no tile.
ODD_SHAPES = [(1, 8), (17, 136), (333, 1000), (1000, 5120)]
# Layers of Llama-3-8B, which have measured plans; then shapes whose plans on an H200, as code of
# 9.0a or of 8.0, have row tiles and columns ahead that are seldom chosen.
OTHER_PLANS = [
    *((n, 4096, size) for n in (4096, 6144) for size in (-1, 128)),
    *((n, k, 128) for n, k in ((696, 12544), (800, 8448), (776, 13312), (1552, 6272))),
    *((n, k, -1) for n, k in ((2632, 6272), (2128, 5248), (1608, 9344), (2648, 8320))),
    *((n, k, -1) for n, k in ((5544, 2688), (5472, 4352), (59136, 3712))),
]


@pytest.mark.parametrize("act_int8", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", ODD_SHAPES)
@pytest.mark.parametrize("m", [1, 7, 16, 17, 64, 129, 257])
def test_odd_shapes(m: int, shape: tuple[int, int], dtype: torch.dtype, act_int8: bool) -> None:
    product = make_product(m, *shape, dtype=dtype, act_int8=act_int8, bias=m % 2 == 0)
    assert_exact(product.run(), product)


@pytest.mark.parametrize("scale_dtype", [torch.float32, *DTYPES])
@pytest.mark.parametrize("act_int8", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("group_size", [-1, 32, 64, 96, 128, 192, 768, 1536])
def test_kinds_of_scales(
    group_size: int, dtype: torch.dtype, act_int8: bool, scale_dtype: torch.dtype
) -> None:
    whole = make_product(130, 200, 1536, dtype, group_size, act_int8, True, scale_dtype)
    packed = whole.packed
    for count in (1, 9, 40, 130):
        product = whole.first(count)
        assert_exact(product.run(packed), product)


@pytest.mark.parametrize("act_int8", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("group_size", [32, 128])
@pytest.mark.parametrize("m", [1, 9, 40, 130])
def test_16_bit_scales_of_whole_row_tiles(
    m: int, group_size: int, dtype: torch.dtype, act_int8: bool
) -> None:
    """Scales of the activations' type, which are copied 16 bytes at a time."""
    product = make_product(
        m, 208, 1536, dtype=dtype, group_size=group_size, act_int8=act_int8, scale_dtype=dtype
    )
    assert_exact(product.run(), product)


@pytest.mark.parametrize("act_int8", [False, True])
@pytest.mark.parametrize("scale_dtype", [torch.float32, *DTYPES])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("group_size", [-1, 32, 128])
@pytest.mark.parametrize("m", [1, 9, 40])
def test_scales_at_any_address(
    m: int, group_size: int, dtype: torch.dtype, scale_dtype: torch.dtype, act_int8: bool
) -> None:
    """Scales that begin at no multiple of 16 bytes, which decode reads one by one."""
    plain = make_product(m, 208, 1536, dtype, group_size, act_int8, True, scale_dtype)
    memory = torch.empty(plain.scale.numel() + 1, device="cuda", dtype=scale_dtype)
    scale = memory[1:].view(plain.scale.shape)
    scale.copy_(plain.scale)
    assert_exact(replace(plain, scale=scale).run(), plain)


@pytest.mark.parametrize("act_int8", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("n", "k", "group_size"), OTHER_PLANS)
def test_other_plans(n: int, k: int, group_size: int, dtype: torch.dtype, act_int8: bool) -> None:
    scale_dtype = dtype if group_size > 0 else torch.float32
    whole = make_product(16, n, k, dtype, group_size, act_int8, scale_dtype=scale_dtype)
    packed = whole.packed
    for count in (1, 2, 4, 8, 16):
        product = whole.first(count)
        assert_exact(product.run(packed), product)
