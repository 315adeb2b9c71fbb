# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Group scales have the activations' type where that is exact; a reload cannot change the type."""

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
    random_codes,
    random_input,
    random_scale,
)
from ternary_stand_in import use_stand_in
from vllm.model_executor.model_loader.reload import (
    finalize_layerwise_reload,
    initialize_layerwise_reload,
    record_metadata_for_reloading,
)

COARSE = random_scale(24, 2).bfloat16().float()
FINE = random_scale(24, 2)


@pytest.fixture
def layer(tensor_parallel: None, monkeypatch: pytest.MonkeyPatch) -> torch.nn.Module:
    use_stand_in(monkeypatch)
    layer = column(make_config(group_size=64), 128, 24)
    record_metadata_for_reloading(layer)
    return layer


def fill(layer: torch.nn.Module, scale: torch.Tensor) -> None:
    load(layer, "weight", random_codes(24, 128))
    load(layer, "weight_scale", scale)


def reload(layer: torch.nn.Module, scale: torch.Tensor) -> None:
    initialize_layerwise_reload(layer)
    fill(layer, scale)
    finalize_layerwise_reload(layer, None)


def assert_scaled(layer: torch.nn.Module, scale: torch.Tensor, dtype: torch.dtype) -> None:
    assert layer.weight_scale.dtype == dtype
    x = random_input(3, 128)
    assert_product(layer(x), x, dequantize(random_codes(24, 128), scale))


@pytest.mark.parametrize(
    ("scale", "dtype"), [(COARSE, torch.bfloat16), (FINE, torch.float32)], ids=["coarse", "fine"]
)
def test_type(layer: torch.nn.Module, scale: torch.Tensor, dtype: torch.dtype) -> None:
    fill(layer, scale)
    assert_scaled(finish(layer), scale, dtype)
    reload(layer, 2 * scale)
    assert_scaled(layer, 2 * scale, dtype)


def test_coarse_ones_behind_fine_ones(layer: torch.nn.Module) -> None:
    fill(layer, FINE)
    finish(layer)
    reload(layer, COARSE)
    assert_scaled(layer, COARSE, torch.float32)


def test_fine_ones_behind_coarse_ones_are_refused(layer: torch.nn.Module) -> None:
    fill(layer, COARSE)
    finish(layer)
    with pytest.raises(
        ValueError, match=r"^model\.\S+\.weight_scale is finer than torch\.bfloat16"
    ):
        reload(layer, FINE)
