# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A Qwen3-MoE with ternary experts is served as transformers computes it."""

from typing import Any

import pytest

pytest.importorskip("vllm")

import torch
from ternary_models import (
    GPU_MARK,
    Model,
    assert_same,
    generate,
    make_model,
    reference,
    write_model,
)
from transformers import Qwen3MoeConfig, Qwen3MoeForCausalLM

pytestmark = [pytest.mark.slow, *GPU_MARK]

# name: (group size, packed, layers without experts, seed); the seeds give tokens with a margin.
VARIANTS = {"group": (64, False, [], 12), "channel-packed": (-1, True, [0], 36)}


def qwen3_moe(group_size: int, dense_layers: list[int], seed: int) -> Model:
    config = Qwen3MoeConfig(
        architectures=["Qwen3MoeForCausalLM"],
        hidden_size=128,
        intermediate_size=256,
        moe_intermediate_size=64,
        num_experts=8,
        num_experts_per_tok=2,
        norm_topk_prob=True,
        mlp_only_layers=dense_layers,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
        vocab_size=100,
        max_position_embeddings=64,
        tie_word_embeddings=False,
        eos_token_id=None,
        bos_token_id=None,
    )
    return make_model(Qwen3MoeForCausalLM, config, group_size, seed)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("checkpoints")
    paths = []
    for name, (group_size, packed, dense_layers, seed) in VARIANTS.items():
        model = qwen3_moe(group_size, dense_layers, seed)
        paths.append(write_model(model, folder / name, packed, embeddings=True, lm_head=True))
    return generate(*paths)


@pytest.mark.parametrize("name", VARIANTS)
def test_tokens_and_probabilities(served: dict[str, dict[str, Any]], name: str) -> None:
    group_size, _, dense_layers, seed = VARIANTS[name]
    with torch.device("cpu"):
        expected = reference(Qwen3MoeForCausalLM, qwen3_moe(group_size, dense_layers, seed))
    assert_same(served[name], *expected)
