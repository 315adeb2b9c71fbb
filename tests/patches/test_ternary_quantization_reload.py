# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Weights can be loaded again into a running model, and dummy weights can be made."""

import pytest

pytest.importorskip("vllm")

import torch
from ternary_layers import (
    assert_product,
    dequantize,
    finish,
    gate_up,
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


def test_second_checkpoint_replaces_the_first(device: str) -> None:
    layer = gate_up(make_config(group_size=64), 128, 16)
    record_metadata_for_reloading(layer)
    weights = {}
    for seed in (0, 7):
        if seed:
            initialize_layerwise_reload(layer)
        for shard in (0, 1):
            codes = random_codes(16, 128, seed=seed + shard)
            scale = random_scale(16, 2, seed=seed + shard)
            load(layer, "weight", codes, shard)
            load(layer, "weight_scale", scale, shard)
            weights[seed, shard] = dequantize(codes, scale)
        if not seed:
            finish(layer)
    finalize_layerwise_reload(layer, None)
    x = random_input(3, 128)

    assert_product(layer(x), x, torch.cat([weights[7, 0], weights[7, 1]]))


def test_dummy_weights_are_valid(device: str) -> None:
    layer = gate_up(make_config(group_size=64), 128, 16)
    for param in layer.parameters():
        initialize_single_dummy_weight(param)
    assert finish(layer)(random_input(3, 128)).isfinite().all()
