# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A scale of 0 is accepted, whatever the codes, and gives zeros instead of NaN."""

import pytest

pytest.importorskip("vllm")

import torch
from bitnet_layers import assert_same, fuse, make_config, make_input, make_projection
from ternary_layers import column, finish, gate_up


@pytest.mark.parametrize("kind", ["bitlinear", "autobitlinear"])
def test_codes_that_are_not_zero(device: str, kind: str) -> None:
    projection = make_projection(kind, 32)
    projection.tensors["weight_scale"].zero_()
    layer = column(make_config(kind), 96, 32)
    projection.load(layer)
    x = make_input(device)

    out = finish(layer)(x)

    assert out.shape == (5, 32)
    assert (out == 0).all()


@pytest.mark.parametrize("kind", ["bitlinear", "autobitlinear"])
def test_other_parts_of_a_fused_layer_are_as_ever(device: str, kind: str) -> None:
    parts = {seed: make_projection(kind, 32, seed=seed) for seed in (0, 1)}
    parts[0].tensors["weight_scale"].zero_()
    x = make_input(device)

    out = fuse(gate_up(make_config(kind), 96, 32), parts)(x)

    assert (out[:, :32] == 0).all()
    assert_same(out[:, 32:], parts[1].transformers(x))


def test_online_weight_of_zeros(device: str) -> None:
    projection = make_projection("online", 32)
    projection.tensors["weight"].zero_()
    layer = column(make_config("online"), 96, 32)
    projection.load(layer)
    x = make_input(device)

    assert (finish(layer)(x) == 0).all()
    assert not torch.signbit(layer.weight_scale).any()
