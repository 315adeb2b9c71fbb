# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Each part of a fused layer keeps its planes, its scale and its norm."""

import pytest

pytest.importorskip("vllm")

import torch
from bitnet_layers import (
    KINDS,
    NORM,
    assert_same,
    expected,
    fuse,
    make_config,
    make_input,
    make_projection,
)
from ternary_layers import finish, gate_up, load, qkv


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("norm", [False, True])
class TestFusedShards:
    def test_qkv(self, device: str, kind: str, norm: bool) -> None:
        layer = qkv(make_config(kind, **(NORM if norm else {})), 96, heads=4, kv_heads=2)
        parts = {
            shard: make_projection(kind, rows, norm=norm, seed=seed)
            for seed, (shard, rows) in enumerate({"q": 64, "k": 32, "v": 32}.items())
        }
        x = make_input(device)

        assert_same(fuse(layer, parts)(x), expected(parts.values(), x))

    def test_gate_up(self, device: str, kind: str, norm: bool) -> None:
        layer = gate_up(make_config(kind, **(NORM if norm else {})), 96, 42)
        parts = {seed: make_projection(kind, 42, norm=norm, seed=seed) for seed in (0, 1)}
        x = make_input(device)

        assert_same(fuse(layer, parts)(x), expected(parts.values(), x))

    def test_gate_up_that_is_one_layer_in_the_checkpoint(
        self, device: str, kind: str, norm: bool
    ) -> None:
        layer = gate_up(make_config(kind, **(NORM if norm else {})), 96, 42)
        projection = make_projection(kind, 84, norm=norm)
        projection.load(layer)
        x = make_input(device)

        assert_same(finish(layer)(x), projection.transformers(x))


def test_scales_may_come_long_after_the_weights(device: str) -> None:
    layer = qkv(make_config(), 96, heads=4, kv_heads=2)
    parts = {
        shard: make_projection("bitlinear", rows, seed=seed)
        for seed, (shard, rows) in enumerate({"q": 64, "k": 32, "v": 32}.items())
    }
    for name in ("weight", "weight_scale"):
        for shard, part in parts.items():
            load(layer, name, part.tensors[name], shard)
    x = make_input(device)

    out = finish(layer)(x)

    assert_same(out, expected(parts.values(), x))
    assert len(torch.unique(torch.stack([p.tensors["weight_scale"] for p in parts.values()]))) == 3
