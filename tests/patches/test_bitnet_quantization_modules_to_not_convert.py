# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Without a list the lm_head is dense; with one, all that it does not name is ternary."""

from typing import Any

import pytest

pytest.importorskip("vllm")

import torch
from bitnet_layers import assert_same, make_config, make_input, make_projection
from ternary_layers import TensorParallel, column, finish, gate_up, lm_head, qkv
from vllm.model_executor.layers.linear import UnquantizedLinearMethod
from vllm.model_executor.layers.vocab_parallel_embedding import (
    UnquantizedEmbeddingMethod,
    VocabParallelEmbedding,
)

VOCABULARY = 102


@pytest.mark.parametrize("kind", ["bitlinear", "autobitlinear", "online"])
@pytest.mark.parametrize("quantization", [{}, {"modules_to_not_convert": None}])
def test_lm_head_is_dense_without_a_list(
    device: str, kind: str, quantization: dict[str, Any]
) -> None:
    config = make_config(kind, **quantization)
    assert isinstance(lm_head(config, VOCABULARY, 96).quant_method, UnquantizedEmbeddingMethod)
    assert not isinstance(column(config, 96, 32).quant_method, UnquantizedLinearMethod)


def test_lm_head_is_dense_if_named(device: str) -> None:
    layer = lm_head(make_config(modules_to_not_convert=["lm_head"]), VOCABULARY, 96)
    assert isinstance(layer.quant_method, UnquantizedEmbeddingMethod)


@pytest.mark.parametrize("kind", ["bitlinear", "autobitlinear", "online"])
@pytest.mark.parametrize("rank", [0, 1])
def test_lm_head_is_ternary_if_a_list_does_not_name_it(
    device: str, tensor_parallel: TensorParallel, kind: str, rank: int
) -> None:
    tensor_parallel(rank, 2)
    projection = make_projection(kind, VOCABULARY)
    layer = lm_head(make_config(kind, modules_to_not_convert=[]), VOCABULARY, 96)
    projection.load(layer)
    x = make_input(device)

    logits = finish(layer).quant_method.apply(layer, x)

    assert logits.shape == (5, 64)
    held = 64 if rank == 0 else VOCABULARY - 64
    wanted = projection.transformers(x)[:, rank * 64 : rank * 64 + held]
    assert_same(logits[:, :held], wanted)
    assert not logits[:, held:].any()


def test_lm_head_that_is_tied_is_the_embedding(device: str) -> None:
    config = make_config(modules_to_not_convert=[])
    embedding = VocabParallelEmbedding(
        VOCABULARY,
        96,
        params_dtype=torch.bfloat16,
        quant_config=config,
        prefix="model.embed_tokens",
    )
    assert lm_head(config, VOCABULARY, 96).tie_weights(embedding) is embedding


@pytest.mark.parametrize("name", ["model.layers.0.mlp.up_proj", "up_proj", "model.layers.0"])
def test_named_layer_is_dense(device: str, name: str) -> None:
    layer = column(make_config(modules_to_not_convert=[name]), 96, 32)
    assert isinstance(layer.quant_method, UnquantizedLinearMethod)


def test_fused_layer_is_dense_if_all_its_parts_are_named(device: str) -> None:
    config = make_config(modules_to_not_convert=["gate_proj", "up_proj"])
    assert isinstance(gate_up(config, 96, 32).quant_method, UnquantizedLinearMethod)


def test_fused_layer_of_which_one_part_is_named_is_refused(device: str) -> None:
    config = make_config(modules_to_not_convert=["k_proj"])
    with pytest.raises(ValueError, match=r"some but not all shards of .*qkv_proj"):
        qkv(config, 96, heads=4, kv_heads=2)
