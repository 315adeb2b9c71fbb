# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The ranks' parts of a layer together are the whole layer."""

import pytest

pytest.importorskip("vllm")

import torch
from ternary_layers import (
    TensorParallel,
    assert_product,
    column,
    dequantize,
    finish,
    load,
    make_config,
    pack,
    qkv,
    random_codes,
    random_input,
    random_scale,
    row,
)

SIZE_K, SIZE_N = 256, 32
SCALES = {0: (1,), -1: (SIZE_N, 1), 64: (SIZE_N, 4)}


@pytest.mark.parametrize("group_size", SCALES, ids=["tensor", "channel", "group"])
@pytest.mark.parametrize("packed", [False, True], ids=["int8", "packed"])
class TestParts:
    def load(self, layer: torch.nn.Module, group_size: int, packed: bool) -> None:
        codes, scale = random_codes(SIZE_N, SIZE_K), random_scale(*SCALES[group_size])
        if packed:
            load(layer, "weight_packed", pack(codes))
        else:
            load(layer, "weight", codes)
        load(layer, "weight_scale", scale)
        finish(layer)
        self.weight = dequantize(codes, scale)

    @pytest.mark.parametrize("rank", [0, 1])
    def test_output_channels_are_cut(
        self, device: str, tensor_parallel: TensorParallel, group_size: int, packed: bool, rank: int
    ) -> None:
        tensor_parallel(rank, 2)
        config = make_config(group_size=group_size, format="packed" if packed else "int8")
        layer = column(config, SIZE_K, SIZE_N)
        self.load(layer, group_size, packed)
        x = random_input(3, SIZE_K)

        assert_product(layer(x), x, self.weight.chunk(2)[rank])

    @pytest.mark.parametrize("rank", [0, 1])
    def test_input_channels_are_cut(
        self, device: str, tensor_parallel: TensorParallel, group_size: int, packed: bool, rank: int
    ) -> None:
        tensor_parallel(rank, 2)
        config = make_config(group_size=group_size, format="packed" if packed else "int8")
        layer = row(config, SIZE_K, SIZE_N)
        self.load(layer, group_size, packed)
        x = random_input(3, SIZE_K).chunk(2, dim=1)[rank]

        assert_product(layer(x), x, self.weight.chunk(2, dim=1)[rank])


@pytest.mark.parametrize("rank", [0, 1, 2, 3])
def test_heads_of_keys_are_shared_when_there_are_fewer_than_ranks(
    device: str, tensor_parallel: TensorParallel, rank: int
) -> None:
    tensor_parallel(rank, 4)
    layer = qkv(make_config(group_size=64), SIZE_K, heads=4, kv_heads=2, head_size=16)
    parts = []
    for seed, (shard, heads) in enumerate({"q": 4, "k": 2, "v": 2}.items()):
        codes = random_codes(heads * 16, SIZE_K, seed=seed)
        scale = random_scale(heads * 16, 4, seed=seed)
        load(layer, "weight", codes, shard)
        load(layer, "weight_scale", scale, shard)
        head = rank if shard == "q" else rank // 2
        parts.append(dequantize(codes, scale)[head * 16 : head * 16 + 16])
    x = random_input(3, SIZE_K)

    assert_product(finish(layer)(x), x, torch.cat(parts))
