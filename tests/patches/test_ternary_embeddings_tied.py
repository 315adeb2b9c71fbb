# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""An lm_head tied to a ternary embedding is computed from the embedding's one copy."""

from typing import Any

import pytest

pytest.importorskip("vllm")

import torch
from ternary_embeddings import embedding, fill, rows_of, tied
from ternary_layers import (
    TensorParallel,
    assert_product,
    dequantize,
    finish,
    lm_head,
    make_config,
    quantize_tokens,
    random_codes,
    random_input,
    random_scale,
)

VOCABULARY, SIZE_K = 100, 128
SCALES = {0: (1,), -1: (VOCABULARY, 1), 64: (VOCABULARY, 2)}


def logits_of(head: Any, x: torch.Tensor) -> torch.Tensor:
    logits: torch.Tensor = head.quant_method.apply(head, x, bias=None)
    return logits


@pytest.mark.parametrize("group_size", SCALES, ids=["tensor", "channel", "group"])
@pytest.mark.parametrize("packed", [False, True], ids=["int8", "packed"])
@pytest.mark.parametrize("asked_for", [False, True], ids=["embeddings", "embeddings-and-lm_head"])
def test_logits_and_rows(device: str, group_size: int, packed: bool, asked_for: bool) -> None:
    config = make_config(
        group_size=group_size,
        embeddings=True,
        lm_head=asked_for,
        format="packed" if packed else "int8",
    )
    codes, scale = random_codes(VOCABULARY, SIZE_K), random_scale(*SCALES[group_size])
    embed_tokens, head = tied(config, VOCABULARY, SIZE_K)
    fill(embed_tokens, codes, scale, packed)
    finish(head)
    x, ids = random_input(3, SIZE_K), torch.arange(VOCABULARY)

    logits = logits_of(head, x)

    assert logits.shape == (3, 128)
    assert not logits[:, VOCABULARY:].any()
    assert_product(logits[:, :VOCABULARY], x, dequantize(codes, scale))
    assert torch.equal(embed_tokens(ids).cpu(), rows_of(codes, scale, ids))


@pytest.mark.parametrize("asked_for", [False, True])
def test_the_head_holds_nothing(device: str, asked_for: bool) -> None:
    config = make_config(group_size=64, embeddings=True, lm_head=asked_for)
    _, head = tied(config, VOCABULARY, SIZE_K)
    finish(head)
    assert sum(param.numel() for param in head.parameters()) == 0


def test_activations_of_the_head_are_quantized_as_those_of_other_layers(device: str) -> None:
    config = make_config(group_size=64, embeddings=True, activation="int8")
    codes, scale = random_codes(VOCABULARY, SIZE_K), random_scale(VOCABULARY, 2)
    embed_tokens, head = tied(config, VOCABULARY, SIZE_K)
    fill(embed_tokens, codes, scale)
    x = random_input(3, SIZE_K)
    logits = logits_of(head, x)[:, :VOCABULARY]
    assert_product(logits, quantize_tokens(x), dequantize(codes, scale))


def test_rank_has_its_part(device: str, tensor_parallel: TensorParallel) -> None:
    tensor_parallel(1, 2)
    codes, scale = random_codes(VOCABULARY, SIZE_K), random_scale(VOCABULARY, 2)
    embed_tokens, head = tied(make_config(group_size=64, embeddings=True), VOCABULARY, SIZE_K)
    fill(embed_tokens, codes, scale)
    x = random_input(3, SIZE_K)

    logits = logits_of(head, x)

    assert logits.shape == (3, 64)
    assert not logits[:, 36:].any()
    assert_product(logits[:, :36], x, dequantize(codes, scale)[64:])


def test_excepted_embedding_is_tied_as_dense_ones_are(device: str) -> None:
    config = make_config(embeddings=True, modules_to_not_convert=["embed_tokens"])
    embed_tokens, head = tied(config, VOCABULARY, SIZE_K)
    assert head.weight is embed_tokens.weight


def test_untied_head_stays_dense(device: str) -> None:
    head = lm_head(make_config(group_size=64, embeddings=True), VOCABULARY, SIZE_K)
    assert head.weight.dtype == torch.bfloat16


def test_untied_head_has_weights_of_its_own(device: str) -> None:
    config = make_config(group_size=64, embeddings=True, lm_head=True)
    codes = [random_codes(VOCABULARY, SIZE_K, seed=seed) for seed in (0, 1)]
    scales = [random_scale(VOCABULARY, 2, seed=seed) for seed in (2, 3)]
    embed_tokens = fill(embedding(config, VOCABULARY, SIZE_K), codes[0], scales[0])
    head = fill(lm_head(config, VOCABULARY, SIZE_K), codes[1], scales[1])
    x, ids = random_input(3, SIZE_K), torch.arange(VOCABULARY)

    assert torch.equal(embed_tokens(ids).cpu(), rows_of(codes[0], scales[0], ids))
    logits = logits_of(head, x)[:, :VOCABULARY]
    assert_product(logits, x, dequantize(codes[1], scales[1]))
