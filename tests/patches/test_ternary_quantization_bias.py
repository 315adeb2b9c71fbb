# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A bias is added once, after the scale."""

import pytest

pytest.importorskip("vllm")

import torch
from ternary_layers import (
    TensorParallel,
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
    row,
)

SIZE_K, SIZE_N = 128, 16


def make_bias() -> torch.Tensor:
    return (random_scale(SIZE_N, seed=5) * 8).bfloat16()


@pytest.mark.parametrize("activation", ["a16", "int8"])
def test_bias_is_added_after_the_scale(device: str, activation: str) -> None:
    codes, scale, bias = random_codes(SIZE_N, SIZE_K), random_scale(SIZE_N, 2), make_bias()
    config = make_config(group_size=64, activation=activation)
    layer = column(config, SIZE_K, SIZE_N, bias=True)
    load(layer, "weight", codes)
    load(layer, "weight_scale", scale)
    load(layer, "bias", bias)
    x = random_input(3, SIZE_K)

    tokens = quantize_tokens(x) if activation == "int8" else x
    assert_product(finish(layer)(x), tokens, dequantize(codes, scale), bias)


@pytest.mark.parametrize("rank", [0, 1])
def test_only_the_first_rank_adds_it_to_a_sum(
    device: str, tensor_parallel: TensorParallel, rank: int
) -> None:
    tensor_parallel(rank, 2)
    codes, bias = random_codes(SIZE_N, SIZE_K), make_bias()
    # The test stands in for the sum over the ranks.
    layer = row(make_config(), SIZE_K, SIZE_N, bias=True, reduce_results=True)
    layer.reduce_results = False
    load(layer, "weight", codes)
    load(layer, "bias", bias)
    x = random_input(3, SIZE_K).chunk(2, dim=1)[rank]

    part = dequantize(codes, None).chunk(2, dim=1)[rank]
    assert_product(finish(layer)(x), x, part, bias if rank == 0 else None)
