# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Scales for a tensor, an output channel or a group, in the types and shapes they come in."""

import pytest

pytest.importorskip("vllm")

import torch
from ternary_layers import (
    assert_product,
    column,
    dequantize,
    finish,
    load,
    make_config,
    random_codes,
    random_input,
    random_scale,
)

SIZE_K, SIZE_N = 128, 16


@pytest.mark.parametrize(
    ("group_size", "shape"),
    [
        (0, ()),
        (0, (1,)),
        (0, (1, 1)),
        (-1, (SIZE_N,)),
        (-1, (SIZE_N, 1)),
        (32, (SIZE_N, 4)),
        (64, (SIZE_N, 2)),
        (128, (SIZE_N, 1)),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_scale_is_used_exactly(
    device: str, group_size: int, shape: tuple[int, ...], dtype: torch.dtype
) -> None:
    codes, scale = random_codes(SIZE_N, SIZE_K), random_scale(*shape).to(dtype)
    layer = column(make_config(group_size=group_size), SIZE_K, SIZE_N)
    load(layer, "weight", codes)
    load(layer, "weight_scale", scale)
    x = random_input(4, SIZE_K)

    if scale.ndim < 2:
        scale = scale.reshape(-1, 1)
    assert_product(finish(layer)(x), x, dequantize(codes, scale))


def test_zero_and_negative_scales_are_accepted(device: str) -> None:
    codes, scale = random_codes(SIZE_N, SIZE_K), random_scale(SIZE_N, 2)
    scale[0], scale[1, 0], scale[2] = 0, 0, -scale[2]
    layer = column(make_config(group_size=64), SIZE_K, SIZE_N)
    load(layer, "weight", codes)
    load(layer, "weight_scale", scale)
    x = random_input(4, SIZE_K)

    out = finish(layer)(x)

    assert not out[:, 0].any()
    assert_product(out, x, dequantize(codes, scale))


def test_weights_without_scales_are_multiplied_as_they_are(device: str) -> None:
    codes = random_codes(SIZE_N, SIZE_K)
    layer = column(make_config(), SIZE_K, SIZE_N)
    load(layer, "weight", codes)
    x = random_input(4, SIZE_K)

    assert_product(finish(layer)(x), x, dequantize(codes, None))
