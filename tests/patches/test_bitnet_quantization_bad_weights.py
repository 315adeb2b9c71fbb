# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Weights that are not what the config says are refused by one line naming the tensor."""

from typing import Any

import pytest

pytest.importorskip("vllm")

import torch
from bitnet_layers import KINDS, make_config, make_projection, pack_planes
from ternary_layers import TensorParallel, column, finish, gate_up, load, qkv, random_codes

NAME = "model.layers.0.mlp.up_proj"


def refused(layer: Any, tensor: torch.Tensor, *shard: Any) -> str:
    with pytest.raises(ValueError) as error:
        load(layer, "weight", tensor, *shard)
    message = str(error.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(("row", "column_"), [(0, 0), (7, 95), (16, 3), (29, 40)])
def test_code_3(device: str, row: int, column_: int) -> None:
    packed = pack_planes(random_codes(30, 96))
    packed[row % 8, column_] |= 3 << (2 * (row // 8))
    layer = column(make_config(), 96, 30)
    assert refused(layer, packed) == (
        f"{NAME}.weight holds code 3 at row {row}, column {column_}; the codes are 0 (-1), 1 (0) "
        "and 2 (+1)."
    )


@pytest.mark.parametrize("ranks", [1, 2])
def test_code_3_in_a_part_of_a_fused_layer(
    device: str, tensor_parallel: TensorParallel, ranks: int
) -> None:
    packed = pack_planes(random_codes(32, 96))
    packed[1, 2] |= 3 << 6
    tensor_parallel(0, ranks)
    layer = qkv(make_config(), 96, heads=4, kv_heads=2)
    message = refused(layer, packed, "k")
    assert message.startswith("model.layers.0.self_attn.k_proj.weight holds code 3 at row 25, co")


@pytest.mark.parametrize("kind", ["bitlinear", "autobitlinear"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8])
def test_weights_that_are_not_packed_in_an_offline_checkpoint(
    device: str, kind: str, dtype: torch.dtype
) -> None:
    layer = column(make_config(kind), 96, 32)
    assert refused(layer, random_codes(32, 96).to(dtype)) == (
        f"{NAME}.weight is {dtype} in the checkpoint, but linear_class '{kind}' with "
        "quantization_mode 'offline' stores packed torch.uint8; name the layer in "
        "modules_to_not_convert if its weights are not ternary."
    )


def test_packed_weights_in_an_online_checkpoint(device: str) -> None:
    layer = column(make_config("online"), 96, 32)
    assert refused(layer, pack_planes(random_codes(32, 96))) == (
        f"{NAME}.weight is torch.uint8 in the checkpoint, but quantization_config has "
        "quantization_mode 'online', which quantizes floating point weights."
    )


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_online_weight_that_is_not_finite(device: str, value: float) -> None:
    weight = torch.ones(32, 96, device="cpu")
    weight[5, 7] = value
    layer = column(make_config("online"), 96, 32)
    assert refused(layer, weight) == (
        f"{NAME}.weight holds {value} at row 5, column 7; weights must be finite."
    )


@pytest.mark.parametrize("shape", [(7, 96), (9, 96), (32, 96), (8, 95), (8, 24), (8,), (1, 8, 96)])
def test_shape_that_does_not_match(device: str, shape: tuple[int, ...]) -> None:
    # 30 rows take 8 bytes: 7 are what is left when the division rounds down.
    layer = column(make_config(), 96, 30)
    assert refused(layer, torch.zeros(shape, dtype=torch.uint8, device="cpu")) == (
        f"{NAME}.weight has shape {list(shape)} in the checkpoint, but [8, 96] was expected: 30 "
        "rows of 96 weights, four rows in a byte."
    )


@pytest.mark.parametrize("shape", [(31, 96), (33, 96), (32, 95), (32,)])
def test_online_shape_that_does_not_match(device: str, shape: tuple[int, ...]) -> None:
    layer = column(make_config("online"), 96, 32)
    assert refused(layer, torch.zeros(shape, device="cpu")) == (
        f"{NAME}.weight has shape {list(shape)} in the checkpoint, but [32, 96] was expected."
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("missing", ["q", "k", "v"])
def test_missing_weight_of_a_part(device: str, kind: str, missing: str) -> None:
    layer = qkv(make_config(kind), 96, heads=4, kv_heads=2)
    for shard, rows in {"q": 64, "k": 32, "v": 32}.items():
        projection = make_projection(kind, rows)
        if shard == missing:
            del projection.tensors["weight"]
        projection.load(layer, shard)
    with pytest.raises(ValueError) as error:
        finish(layer)
    assert str(error.value) == (
        f"model.layers.0.self_attn.{missing}_proj.weight is missing from the checkpoint."
    )


@pytest.mark.parametrize("kind", KINDS)
def test_weight_that_comes_twice(device: str, kind: str) -> None:
    layer = gate_up(make_config(kind), 96, 32)
    weight = make_projection(kind, 32).tensors["weight"]
    load(layer, "weight", weight, 0)
    load(layer, "weight", weight, 1)
    assert refused(layer, weight, 1) == f"{NAME}.weight is in the checkpoint twice."


def test_tensor_of_our_own_packed_format(device: str) -> None:
    layer = column(make_config(), 96, 32)
    with pytest.raises(ValueError) as error:
        load(layer, "weight_packed", torch.zeros(32, 24, dtype=torch.uint8, device="cpu"))
    assert str(error.value) == (
        f"{NAME}.weight_packed is in the checkpoint, but quantization_config has quant_method "
        "'bitnet'."
    )
