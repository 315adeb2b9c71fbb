# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""With 8-bit activations each token is quantized by its own largest value."""

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
    quantize_tokens,
    random_codes,
    random_input,
    random_scale,
)

SIZE_K, SIZE_N = 256, 16


@pytest.mark.parametrize(("group_size", "groups"), [(None, 0), (0, 1), (-1, 1), (64, 4)])
def test_product_of_the_quantized_tokens(device: str, group_size: int | None, groups: int) -> None:
    codes = random_codes(SIZE_N, SIZE_K)
    scale = random_scale(1 if group_size == 0 else SIZE_N, groups) if groups else None
    layer = column(make_config(group_size=group_size, activation="int8"), SIZE_K, SIZE_N)
    load(layer, "weight", codes)
    if scale is not None:
        load(layer, "weight_scale", scale)
    x = random_input(6, SIZE_K)
    x[1] *= 1000
    x[2] /= 1000

    assert_product(finish(layer)(x), quantize_tokens(x), dequantize(codes, scale))


def test_zero_token_gives_zeros(device: str) -> None:
    layer = column(make_config(activation="int8"), SIZE_K, SIZE_N)
    load(layer, "weight", random_codes(SIZE_N, SIZE_K))

    out = finish(layer)(torch.zeros(1, SIZE_K, dtype=torch.bfloat16))

    assert not out.any()
