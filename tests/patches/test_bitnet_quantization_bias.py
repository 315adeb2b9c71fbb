# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A bias is scaled where Transformers scales it, each part of a fused layer by its own scale."""

from typing import Any

import pytest

pytest.importorskip("vllm")

import torch
from bitnet_layers import KINDS, assert_same, expected, make_config, make_input, make_projection
from ternary_layers import TensorParallel, column, finish, row
from vllm.model_executor.layers.linear import QKVParallelLinear


@pytest.mark.parametrize("kind", KINDS)
def test_bias_of_a_layer(device: str, kind: str) -> None:
    projection = make_projection(kind, 64, bias=True)
    layer = column(make_config(kind), 96, 64, bias=True)
    projection.load(layer)
    x = make_input(device)

    assert_same(finish(layer)(x), projection.transformers(x), projection.scaled_bias)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("norm", [False, True])
def test_biases_of_a_fused_layer(device: str, kind: str, norm: bool) -> None:
    options = {"use_rms_norm": True, "rms_norm_eps": 1e-5} if norm else {}
    layer: Any = QKVParallelLinear(
        96,
        16,
        4,
        2,
        bias=True,
        quant_config=make_config(kind, **options),
        params_dtype=torch.bfloat16,
        return_bias=False,
        prefix="model.layers.0.self_attn.qkv_proj",
    )
    parts = {
        shard: make_projection(kind, rows, bias=True, norm=norm, seed=seed)
        for seed, (shard, rows) in enumerate({"q": 64, "k": 32, "v": 32}.items())
    }
    for shard, part in parts.items():
        part.load(layer, shard)
    x = make_input(device)

    bias = max(part.scaled_bias for part in parts.values())
    assert_same(finish(layer)(x), expected(parts.values(), x), bias)


@pytest.mark.parametrize("kind", KINDS)
def test_bias_that_is_left_to_the_caller(device: str, kind: str) -> None:
    projection = make_projection(kind, 64, bias=True)
    layer = column(make_config(kind), 96, 64, bias=True, skip_bias_add=True)
    layer.return_bias = True
    projection.load(layer)
    x = make_input(device)

    out, bias = finish(layer)(x)

    alone = projection.transformers(x) - bias.cpu().float()
    assert_same(out, alone, projection.scaled_bias)


@pytest.mark.parametrize("rank", [0, 1])
def test_only_the_first_rank_adds_it_to_a_sum(
    device: str, tensor_parallel: TensorParallel, rank: int
) -> None:
    tensor_parallel(rank, 2)
    projection = make_projection("autobitlinear", 16, bias=True)
    # The test stands in for the sum over the ranks, which have no step to agree on.
    config = make_config("autobitlinear", activation="a16")
    layer = row(config, 96, 16, bias=True, reduce_results=True)
    layer.reduce_results = False
    projection.load(layer)
    x = torch.zeros(1, 48, dtype=torch.bfloat16)

    scale = projection.tensors["weight_scale"].float()
    bias = projection.tensors["bias"].float() * scale
    assert_same(finish(layer)(x), bias.reshape(1, -1) * (rank == 0))
