# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Scales that are missing, double, not finite or not one number are refused by one line."""

from typing import Any

import pytest

pytest.importorskip("vllm")

import torch
from bitnet_layers import make_config, make_projection
from ternary_layers import column, finish, gate_up, load, qkv

NAME = "model.layers.0.mlp.up_proj"


def refused(layer: Any, scale: torch.Tensor, *shard: Any) -> str:
    with pytest.raises(ValueError) as error:
        load(layer, "weight_scale", scale, *shard)
    message = str(error.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("kind", ["bitlinear", "autobitlinear"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_value_that_is_not_finite(device: str, kind: str, value: float) -> None:
    layer = gate_up(make_config(kind), 96, 32)
    assert refused(layer, torch.tensor([value], device="cpu"), 1) == (
        f"{NAME}.weight_scale holds {value} at [0]; scales must be finite."
    )


def test_value_that_cannot_be_divided_by(device: str) -> None:
    layer = column(make_config(), 96, 32)
    assert refused(layer, torch.tensor([1e-40], device="cpu")).endswith(
        "which is too small to divide by, as linear_class 'bitlinear' does."
    )


@pytest.mark.parametrize("kind", ["bitlinear", "autobitlinear"])
@pytest.mark.parametrize("missing", ["q", "k", "v"])
def test_missing_scale_of_a_part(device: str, kind: str, missing: str) -> None:
    layer = qkv(make_config(kind), 96, heads=4, kv_heads=2)
    for shard, rows in {"q": 64, "k": 32, "v": 32}.items():
        projection = make_projection(kind, rows)
        if shard == missing:
            del projection.tensors["weight_scale"]
        projection.load(layer, shard)
    with pytest.raises(ValueError) as error:
        finish(layer)
    assert str(error.value) == (
        f"model.layers.0.self_attn.{missing}_proj.weight_scale is missing from the checkpoint."
    )


@pytest.mark.parametrize("second", [0.5, 2.0])
def test_scale_that_comes_twice(device: str, second: float) -> None:
    layer = gate_up(make_config(), 96, 32)
    load(layer, "weight_scale", torch.tensor([0.5], device="cpu"), 0)
    load(layer, "weight_scale", torch.tensor([0.5], device="cpu"), 1)
    assert refused(layer, torch.tensor([second], device="cpu"), 1) == (
        f"{NAME}.weight_scale is in the checkpoint twice."
    )


@pytest.mark.parametrize("shape", [(2,), (32,), (32, 1), (0,)])
def test_more_or_less_than_one_number(device: str, shape: tuple[int, ...]) -> None:
    layer = column(make_config(), 96, 32)
    assert refused(layer, torch.ones(shape, device="cpu")) == (
        f"{NAME}.weight_scale has shape {list(shape)} in the checkpoint; the bitnet format has one "
        "scale for each tensor."
    )


@pytest.mark.parametrize("dtype", [torch.float64, torch.int32, torch.uint8])
def test_type_that_is_no_scale(device: str, dtype: torch.dtype) -> None:
    layer = column(make_config(), 96, 32)
    message = refused(layer, torch.ones(1, dtype=dtype, device="cpu"))
    assert message.startswith(f"{NAME}.weight_scale is {dtype} in the checkpoint; it must be ")


def test_scale_in_an_online_checkpoint(device: str) -> None:
    layer = column(make_config("online"), 96, 32)
    assert refused(layer, torch.ones(1, device="cpu")) == (
        f"{NAME}.weight_scale is in the checkpoint, but quantization_config has quantization_mode "
        "'online', where the scale is computed from the weight."
    )


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_one_number_in_any_shape_is_accepted(device: str, shape: tuple[int, ...]) -> None:
    projection = make_projection("autobitlinear", 32)
    scale = projection.tensors["weight_scale"].reshape(shape)
    layer = column(make_config("autobitlinear"), 96, 32)
    load(layer, "weight", projection.tensors["weight"])
    load(layer, "weight_scale", scale)

    assert (finish(layer).weight_scale == scale.float().item()).all()
