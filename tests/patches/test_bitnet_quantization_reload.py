# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Weights can be loaded again into a running model, and dummy weights can be made."""

from typing import Any

import pytest

pytest.importorskip("vllm")

import torch
from bitnet_layers import (
    KINDS,
    NORM,
    Projection,
    assert_same,
    expected,
    make_config,
    make_input,
    make_projection,
)
from ternary_layers import finish, gate_up
from vllm.model_executor.model_loader.reload import (
    finalize_layerwise_reload,
    initialize_layerwise_reload,
    record_metadata_for_reloading,
)
from vllm.model_executor.model_loader.weight_utils import initialize_single_dummy_weight


def load_parts(layer: Any, kind: str, norm: bool, seed: int) -> list[Projection]:
    parts = [make_projection(kind, 32, norm=norm, seed=seed + shard) for shard in (0, 1)]
    for shard, part in enumerate(parts):
        part.load(layer, shard)
    return parts


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("norm", [False, True])
def test_second_checkpoint_replaces_the_first(device: str, kind: str, norm: bool) -> None:
    layer: Any = gate_up(make_config(kind, **(NORM if norm else {})), 96, 32)
    record_metadata_for_reloading(layer)
    first = load_parts(layer, kind, norm, seed=0)
    finish(layer)
    # CUDA graphs have been recorded with these.
    storages = {name: param.data_ptr() for name, param in layer.named_parameters()}
    initialize_layerwise_reload(layer)
    second = load_parts(layer, kind, norm, seed=7)
    finalize_layerwise_reload(layer, None)
    x = make_input(device)

    assert_same(layer(x), expected(second, x))
    assert not torch.equal(expected(first, x), expected(second, x))
    assert {name: param.data_ptr() for name, param in layer.named_parameters()} == storages


@pytest.mark.parametrize("kind", KINDS)
def test_dummy_weights_are_valid(device: str, kind: str) -> None:
    layer = gate_up(make_config(kind, **NORM), 96, 32)
    for param in layer.parameters():
        initialize_single_dummy_weight(param)
    assert finish(layer)(make_input(device)).isfinite().all()
