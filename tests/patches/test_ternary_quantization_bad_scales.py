# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Scales that are missing, not finite or of a wrong shape are refused by one line."""

import pytest

pytest.importorskip("vllm")

import torch
from ternary_layers import (
    column,
    finish,
    gate_up,
    load,
    make_config,
    qkv,
    random_codes,
    random_scale,
)

SIZE_K, SIZE_N = 128, 16


def one_line(error: pytest.ExceptionInfo[ValueError]) -> str:
    message = str(error.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize(
    ("group_size", "shape", "place"),
    [(0, (1,), [0]), (-1, (SIZE_N, 1), [7, 0]), (64, (SIZE_N, 2), [7, 1])],
    ids=["tensor", "channel", "group"],
)
def test_value_that_is_not_finite(
    device: str, group_size: int, shape: tuple[int, ...], place: list[int], value: float
) -> None:
    scale = random_scale(*shape)
    scale[tuple(place)] = value
    layer = gate_up(make_config(group_size=group_size), SIZE_K, SIZE_N)
    with pytest.raises(ValueError) as error:
        load(layer, "weight_scale", scale, 1)
    assert one_line(error) == (
        f"model.layers.0.mlp.up_proj.weight_scale holds {value} at {place}; scales must be finite."
    )


@pytest.mark.parametrize("group_size", [0, -1, 64], ids=["tensor", "channel", "group"])
@pytest.mark.parametrize("missing", ["q", "k", "v"])
def test_missing_scale_of_a_part(device: str, group_size: int, missing: str) -> None:
    layer = qkv(make_config(group_size=group_size), SIZE_K, heads=4, kv_heads=2)
    for shard, rows in {"q": 64, "k": 32, "v": 32}.items():
        load(layer, "weight", random_codes(rows, SIZE_K), shard)
        if shard != missing:
            shape = {0: (1,), -1: (rows, 1)}.get(group_size, (rows, 2))
            load(layer, "weight_scale", random_scale(*shape), shard)
    with pytest.raises(ValueError) as error:
        finish(layer)
    assert one_line(error) == (
        f"model.layers.0.self_attn.{missing}_proj.weight_scale is missing from the checkpoint, "
        f"but quantization_config has group_size {group_size}."
    )


def test_scale_where_the_config_says_there_is_none(device: str) -> None:
    layer = gate_up(make_config(), SIZE_K, SIZE_N)
    with pytest.raises(ValueError) as error:
        load(layer, "weight_scale", random_scale(1), 0)
    assert one_line(error) == (
        "model.layers.0.mlp.gate_proj.weight_scale is in the checkpoint, but quantization_config "
        "has no group_size."
    )


@pytest.mark.parametrize(
    ("group_size", "shape"),
    [
        (0, (SIZE_N,)),
        (-1, ()),
        (-1, (SIZE_N, 2)),
        (64, (SIZE_N,)),
        (64, (SIZE_N, 1)),
        (64, (2, SIZE_N)),
        (64, (SIZE_N - 1, 2)),
    ],
)
def test_shape_that_does_not_match(device: str, group_size: int, shape: tuple[int, ...]) -> None:
    layer = column(make_config(group_size=group_size), SIZE_K, SIZE_N)
    with pytest.raises(ValueError) as error:
        load(layer, "weight_scale", random_scale(*shape))
    message = one_line(error)
    assert message.startswith("model.layers.0.mlp.up_proj")
    assert f"shape {list(shape)}" in message


def test_scale_that_float32_cannot_hold(device: str) -> None:
    layer = column(make_config(group_size=64), SIZE_K, SIZE_N)
    with pytest.raises(ValueError) as error:
        load(layer, "weight_scale", random_scale(SIZE_N, 2).double())
    assert "weight_scale is torch.float64 in the checkpoint" in one_line(error)


def test_integer_scale(device: str) -> None:
    layer = column(make_config(group_size=0), SIZE_K, SIZE_N)
    with pytest.raises(ValueError) as error:
        load(layer, "weight_scale", torch.ones(1, dtype=torch.int32, device="cpu"))
    assert "weight_scale is torch.int32 in the checkpoint" in one_line(error)
