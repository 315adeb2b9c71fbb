# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Weights of a tied embedding can be loaded again; both its uses see the second ones."""

import pytest

pytest.importorskip("vllm")

import torch
from ternary_embeddings import fill, rows_of, tied
from ternary_layers import (
    assert_product,
    dequantize,
    load,
    make_config,
    random_codes,
    random_input,
    random_scale,
)
from vllm.model_executor.model_loader.reload import (
    finalize_layerwise_reload,
    initialize_layerwise_reload,
    record_metadata_for_reloading,
)
from vllm.model_executor.model_loader.weight_utils import initialize_single_dummy_weight

VOCABULARY, SIZE_K = 128, 64


def test_second_checkpoint_replaces_the_first(device: str) -> None:
    embed_tokens, head = tied(make_config(group_size=64, embeddings=True), VOCABULARY, SIZE_K)
    model = torch.nn.ModuleList([embed_tokens, head])
    record_metadata_for_reloading(model)
    fill(embed_tokens, random_codes(VOCABULARY, SIZE_K), random_scale(VOCABULARY, 1))

    codes = random_codes(VOCABULARY, SIZE_K, seed=7)
    scale = random_scale(VOCABULARY, 1, seed=8)
    initialize_layerwise_reload(model)
    load(embed_tokens, "weight", codes)
    load(embed_tokens, "weight_scale", scale)
    finalize_layerwise_reload(model, None)
    x, ids = random_input(3, SIZE_K), torch.arange(VOCABULARY)

    assert torch.equal(embed_tokens(ids).cpu(), rows_of(codes, scale, ids))
    assert_product(head.quant_method.apply(head, x), x, dequantize(codes, scale))


def test_dummy_weights_are_valid(device: str) -> None:
    embed_tokens, head = tied(make_config(group_size=64, embeddings=True), VOCABULARY, SIZE_K)
    for layer in (embed_tokens, head):
        for param in layer.parameters():
            initialize_single_dummy_weight(param)
        layer.quant_method.process_weights_after_loading(layer)
    assert embed_tokens(torch.arange(VOCABULARY)).isfinite().all()
