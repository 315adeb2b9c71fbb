# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What lies beside an argument does not matter: NaN around all of them changes nothing.

These tests are small and take the ways through the kernels that there are: they are for
compute-sanitizer too, which sees where an argument ends only without surroundings. What is shared
between blocks waits for flags in memory that nothing has written yet, which initcheck reports.
"""

from dataclasses import replace

import pytest
import torch
from ternary_ops import Product, assert_exact, make_product, needs_gpu

pytestmark = [pytest.mark.gpu, needs_gpu]

GUARD = 4096
FP32, FP16, BF16 = torch.float32, torch.float16, torch.bfloat16


def surrounded(tensor: torch.Tensor, fill: float) -> torch.Tensor:
    """A copy of the tensor in the middle of memory filled with `fill`."""
    memory = torch.full((tensor.numel() + 2 * GUARD,), fill, device="cuda", dtype=tensor.dtype)
    inside = memory[GUARD : GUARD + tensor.numel()].view(tensor.shape)
    inside.copy_(tensor)
    return inside


def assert_surroundings_do_not_matter(plain: Product) -> None:
    assert plain.bias is not None
    nan = float("nan")
    product = replace(
        plain,
        x=surrounded(plain.x, nan),
        scale=surrounded(plain.scale, nan),
        bias=surrounded(plain.bias, nan),
    )
    packed = plain.packed
    assert_exact(plain.run(packed), plain)
    assert_exact(product.run(surrounded(packed, 0x55555555)), plain)


@pytest.mark.parametrize("act_int8", [False, True])
# Scales of channels, of groups of whole units of 128 columns, and of blocks of a unit. Prefill
# stores results in another way where N is no multiple of 8.
@pytest.mark.parametrize(
    ("n", "k", "group_size", "dtype", "scale_dtype"),
    [
        pytest.param(203, 1184, -1, BF16, FP32, id="channel"),
        pytest.param(200, 1176, -1, FP16, FP32, id="channel-fp16"),
        pytest.param(203, 1152, 128, BF16, FP32, id="units"),
        pytest.param(200, 1152, 128, FP16, FP16, id="units-fp16"),
        pytest.param(200, 1152, 128, BF16, BF16, id="units-bf16"),
        pytest.param(203, 1152, 128, FP16, FP16, id="units-fp16-elements"),
        pytest.param(203, 1184, 32, BF16, FP32, id="blocks"),
        pytest.param(200, 1216, 64, FP16, FP16, id="blocks-fp16"),
        pytest.param(203, 1184, 32, BF16, BF16, id="blocks-bf16"),
    ],
)
@pytest.mark.parametrize("m", [1, 3, 16, 17, 30, 64, 70, 130, 257])
def test_small_products(
    m: int,
    n: int,
    k: int,
    group_size: int,
    dtype: torch.dtype,
    scale_dtype: torch.dtype,
    act_int8: bool,
) -> None:
    product = make_product(m, n, k, dtype, group_size, act_int8, True, scale_dtype)
    assert_surroundings_do_not_matter(product)


@pytest.mark.parametrize("act_int8", [False, True])
# How wgmma cuts them on an H200, and mma.sync those of small groups; the result holds on any GPU.
@pytest.mark.parametrize(
    ("m", "n", "k", "group_size", "scale_dtype"),
    [
        pytest.param(2, 41, 8192, 128, FP32, id="clusters"),
        pytest.param(2, 40, 8192, 128, BF16, id="clusters-bf16"),
        # A warp of decode with three row tiles at a time, or, with int8, four: their ends.
        pytest.param(3, 24001, 520, -1, FP32, id="rows-by-three-or-four"),
        pytest.param(8, 6333, 2056, -1, FP32, id="rows-by-three-in-clusters"),
        pytest.param(2, 28672, 4096, 128, BF16, id="rows-by-three-in-groups"),
        pytest.param(16, 41, 8200, -1, FP32, id="slices"),
        pytest.param(16, 41, 8192, 32, FP32, id="slices-of-small-groups"),
        pytest.param(16, 40, 8192, 32, BF16, id="slices-of-small-groups-bf16"),
        pytest.param(17, 34003, 136, -1, FP32, id="tiles-256x32"),
        pytest.param(64, 34000, 136, -1, FP32, id="tiles-256x64"),
        pytest.param(130, 13333, 136, -1, FP32, id="tiles-256x128"),
        pytest.param(257, 4104, 256, 128, BF16, id="tiles-128x128"),
        pytest.param(17, 13336, 2048, 128, FP32, id="shares-256x32"),
        pytest.param(130, 13336, 1024, 128, FP32, id="shares-256x64"),
        pytest.param(70, 8200, 2048, 128, BF16, id="shares-128x128"),
        pytest.param(257, 1029, 2048, 128, FP32, id="shares-128x64"),
        # With 16 bits; int8 has tiles of 32 tokens alone here.
        pytest.param(130, 13336, 128, 32, BF16, id="tiles-256x128-of-small-groups"),
        pytest.param(257, 15112, 512, 32, BF16, id="shares-256x128-of-small-groups"),
        pytest.param(257, 1797, 1536, 64, BF16, id="shares-256x64-of-small-groups"),
    ],
)
def test_other_cuts(
    m: int, n: int, k: int, group_size: int, scale_dtype: torch.dtype, act_int8: bool
) -> None:
    product = make_product(m, n, k, BF16, group_size, act_int8, True, scale_dtype)
    assert_surroundings_do_not_matter(product)
