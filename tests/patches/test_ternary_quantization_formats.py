# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The int8 and the packed format hold the same layer."""

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
    pack,
    random_codes,
    random_input,
    random_scale,
)


@pytest.mark.parametrize("size_k", [64, 30], ids=["whole-bytes", "last-byte-half-full"])
def test_both_formats_give_the_product(device: str, size_k: int) -> None:
    codes, scale = random_codes(24, size_k), random_scale(24, 1)
    x = random_input(5, size_k)

    unpacked = column(make_config(group_size=-1), size_k, 24)
    load(unpacked, "weight", codes)
    load(unpacked, "weight_scale", scale)
    packed = column(make_config(group_size=-1, format="packed"), size_k, 24)
    load(packed, "weight_packed", pack(codes))
    load(packed, "weight_scale", scale)

    out = finish(unpacked)(x)
    assert_product(out, x, dequantize(codes, scale))
    assert torch.equal(finish(packed)(x), out)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_output_has_the_dtype_of_the_input(device: str, dtype: torch.dtype) -> None:
    codes = random_codes(8, 64)
    layer = column(make_config(), 64, 8)
    load(layer, "weight", codes)
    x = random_input(3, 64, dtype)

    out = finish(layer)(x)

    assert out.dtype == dtype
    assert_product(out, x, dequantize(codes, None))
