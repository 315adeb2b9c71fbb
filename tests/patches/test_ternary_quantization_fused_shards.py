# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Each part of a fused layer keeps its own weights and scales."""

from typing import Any

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
    pack,
    qkv,
    random_codes,
    random_input,
    random_scale,
)

SIZE_K = 128


def make_shards(rows: dict[Any, int], group_size: int) -> dict[Any, tuple[torch.Tensor, ...]]:
    shards = {}
    for seed, (shard, size_n) in enumerate(rows.items()):
        shape = {0: (1,), -1: (size_n, 1)}.get(group_size, (size_n, SIZE_K // 64))
        codes = random_codes(size_n, SIZE_K, seed=seed)
        shards[shard] = codes, random_scale(*shape, seed=seed) * 4.0**seed
    return shards


def expected(shards: dict[Any, tuple[torch.Tensor, ...]]) -> torch.Tensor:
    return torch.cat([dequantize(codes, scale) for codes, scale in shards.values()])


@pytest.mark.parametrize("group_size", [0, -1, 64], ids=["tensor", "channel", "group"])
@pytest.mark.parametrize("packed", [False, True], ids=["int8", "packed"])
class TestFusedShards:
    def load(self, layer: Any, shards: dict[Any, Any], packed: bool) -> Any:
        # Last one first: nothing may depend on the order of the checkpoint.
        for shard, (codes, scale) in reversed(shards.items()):
            load(layer, "weight_scale", scale, shard)
            if packed:
                load(layer, "weight_packed", pack(codes), shard)
            else:
                load(layer, "weight", codes, shard)
        return finish(layer)

    def test_qkv(self, device: str, group_size: int, packed: bool) -> None:
        shards = make_shards({"q": 64, "k": 32, "v": 32}, group_size)
        config = make_config(group_size=group_size, format="packed" if packed else "int8")
        layer = self.load(qkv(config, SIZE_K, heads=4, kv_heads=2), shards, packed)
        x = random_input(3, SIZE_K)

        assert_product(layer(x), x, expected(shards))

    def test_gate_up(self, device: str, group_size: int, packed: bool) -> None:
        shards = make_shards({0: 48, 1: 48}, group_size)
        config = make_config(group_size=group_size, format="packed" if packed else "int8")
        layer = self.load(gate_up(config, SIZE_K, 48), shards, packed)
        x = random_input(3, SIZE_K)

        assert_product(layer(x), x, expected(shards))


@pytest.mark.parametrize("group_size", [0, 64], ids=["tensor", "group"])
def test_a_layer_that_is_fused_in_the_checkpoint(device: str, group_size: int) -> None:
    codes = random_codes(96, SIZE_K)
    scale = random_scale(1) if group_size == 0 else random_scale(96, SIZE_K // 64)
    layer = gate_up(make_config(group_size=group_size), SIZE_K, 48)
    load(layer, "weight", codes)
    load(layer, "weight_scale", scale)
    x = random_input(3, SIZE_K)

    assert_product(finish(layer)(x), x, dequantize(codes, scale))
