# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""More output channels in the checkpoint than in its config are refused, never cut off.

A model's column parallel layers take the rows they have room for and leave the rest unread.
"""

from typing import Any

import pytest

pytest.importorskip("vllm")

import torch
from ternary_layers import (
    TensorParallel,
    column,
    finish,
    gate_up,
    load,
    make_config,
    qkv,
    random_codes,
    random_scale,
)

SIZE_K, SIZE_N, MORE = 64, 16, 8


def refused(layer: Any, name: str, tensor: torch.Tensor, *shard: Any) -> str:
    with pytest.raises(ValueError) as error:
        load(layer, name, tensor, *shard)
    message = str(error.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("ranks", [1, 2])
def test_column_parallel(device: str, tensor_parallel: TensorParallel, ranks: int) -> None:
    tensor_parallel(0, ranks)
    layer = column(make_config(), SIZE_K, SIZE_N)
    assert refused(layer, "weight", random_codes(SIZE_N + MORE, SIZE_K)) == (
        "model.layers.0.mlp.up_proj: a tensor of shape [24, 64] in the checkpoint does not fit "
        "the model, which has 16 output channels there."
    )


@pytest.mark.parametrize(("shard", "name"), [(0, "gate_proj"), (1, "up_proj")])
def test_part_of_a_merged_layer(device: str, shard: int, name: str) -> None:
    layer = gate_up(make_config(), SIZE_K, SIZE_N)
    message = refused(layer, "weight", random_codes(SIZE_N + MORE, SIZE_K), shard)
    assert message.startswith(f"model.layers.0.mlp.{name}: a tensor of shape [24, 64]")


@pytest.mark.parametrize("shard", [None, (0, 1)])
def test_layer_merged_in_the_checkpoint(device: str, shard: Any) -> None:
    layer = gate_up(make_config(), SIZE_K, SIZE_N)
    message = refused(layer, "weight", random_codes(2 * SIZE_N + MORE, SIZE_K), shard)
    assert message.endswith("which has 32 output channels there.")


@pytest.mark.parametrize(("shard", "rows"), [("q", 64), ("k", 32), ("v", 32), (None, 128)])
@pytest.mark.parametrize("ranks", [1, 2, 4])  # with 4, two ranks hold each key head
def test_attention(
    device: str, tensor_parallel: TensorParallel, ranks: int, shard: str | None, rows: int
) -> None:
    tensor_parallel(ranks - 1, ranks)
    layer = qkv(make_config(), SIZE_K, heads=4, kv_heads=2)
    message = refused(layer, "weight", random_codes(rows + MORE, SIZE_K), shard)
    assert message.endswith(f"which has {rows} output channels there.")
    load(layer, "weight", random_codes(rows, SIZE_K), shard)


@pytest.mark.parametrize(("group_size", "groups"), [(32, 2), (-1, 1)])
def test_scale(device: str, group_size: int, groups: int) -> None:
    layer = column(make_config(group_size=group_size), SIZE_K, SIZE_N)
    message = refused(layer, "weight_scale", random_scale(SIZE_N + MORE, groups))
    assert message.endswith("which has 16 output channels there.")


def test_as_many_rows_are_loaded(device: str) -> None:
    layer = gate_up(make_config(group_size=32), SIZE_K, SIZE_N)
    for shard in (0, 1):
        load(layer, "weight", random_codes(SIZE_N, SIZE_K), shard)
        load(layer, "weight_scale", random_scale(SIZE_N, 2), shard)
    finish(layer)
