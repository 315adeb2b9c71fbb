# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A model whose embeddings and lm_head are ternary too is served as transformers computes it."""

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
from transformers import LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM

pytestmark = [pytest.mark.slow, *GPU_MARK]

# name: (tied, group size, packed, seed); the seeds give greedy tokens with a margin.
VARIANTS = {"tied": (True, 64, False, 15), "untied": (False, 128, True, 37)}


def qwen3(tied: bool, group_size: int, seed: int) -> Model:
    config = Qwen3Config(
        architectures=["Qwen3ForCausalLM"],
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
        vocab_size=100,  # which vLLM pads to 128
        max_position_embeddings=64,
        tie_word_embeddings=tied,
        eos_token_id=None,
        bos_token_id=None,
    )
    return make_model(Qwen3ForCausalLM, config, group_size, seed)


def llama_with_a_bad_embedding() -> Model:
    config = LlamaConfig(
        architectures=["LlamaForCausalLM"],
        hidden_size=64,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        vocab_size=100,
        max_position_embeddings=64,
        tie_word_embeddings=True,
        eos_token_id=None,
        bos_token_id=None,
    )
    model = make_model(LlamaForCausalLM, config, 64, seed=0)
    model.codes["model.embed_tokens"][7, 9] = 2
    return model


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("checkpoints")
    paths = []
    for name, (tied, group_size, packed, seed) in VARIANTS.items():
        model = qwen3(tied, group_size, seed)
        # A tied lm_head is ternary without being asked for.
        options = {"embeddings": True} | ({} if tied else {"lm_head": True})
        paths.append(write_model(model, folder / name, packed, **options))
    model = llama_with_a_bad_embedding()
    paths.append(write_model(model, folder / "llama", embeddings=True))
    return generate(*paths)


@pytest.mark.parametrize("name", VARIANTS)
def test_tokens_and_probabilities(served: dict[str, dict[str, Any]], name: str) -> None:
    tied, group_size, _, seed = VARIANTS[name]
    with torch.device("cpu"):
        expected = reference(Qwen3ForCausalLM, qwen3(tied, group_size, seed))
    assert_same(served[name], *expected)


def test_llama_names_its_embedding(served: dict[str, dict[str, Any]]) -> None:
    assert served["llama"]["error"] == (
        "model.embed_tokens.weight holds 2 at row 7, column 9; ternary weights are -1, 0 or 1."
    )
