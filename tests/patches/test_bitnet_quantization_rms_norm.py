# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""With use_rms_norm each projection normalizes its own input, as Transformers' layers do."""

import pytest

pytest.importorskip("vllm")

import torch
from bitnet_layers import (
    EPS,
    KINDS,
    NORM,
    assert_same,
    expected,
    fuse,
    make_config,
    make_input,
    make_projection,
)
from ternary_layers import column, finish, gate_up, load, qkv


@pytest.mark.parametrize("kind", KINDS)
def test_one_projection(device: str, kind: str) -> None:
    projection = make_projection(kind, 64, norm=True)
    layer = column(make_config(kind, **NORM), 96, 64)
    projection.load(layer)
    x = make_input(device)

    assert_same(finish(layer)(x), projection.transformers(x))


def test_epsilon_counts(device: str) -> None:
    projection = make_projection("autobitlinear", 64, norm=True)
    layer = column(make_config("autobitlinear", **NORM), 96, 64)
    projection.load(layer)
    # Squares about as small as epsilon: without it the result would be much larger.
    x = make_input(device) * EPS**0.5

    out = finish(layer)(x)

    assert_same(out, projection.transformers(x))
    layer.rms_norm.eps = 0.0
    assert layer(x).float().norm() > 1.3 * out.float().norm()


def test_shapes_of_more_than_two_dimensions(device: str) -> None:
    layer = gate_up(make_config(**NORM), 96, 42)
    parts = {seed: make_projection("bitlinear", 42, norm=True, seed=seed) for seed in (0, 1)}
    fuse(layer, parts)
    x = make_input(device, tokens=6)

    out = layer(x.reshape(2, 3, 96))

    assert out.shape == (2, 3, 84)
    assert_same(out.flatten(0, 1), expected(parts.values(), x))


@pytest.mark.parametrize("missing", ["q", "k", "v"])
def test_missing_norm_is_refused(device: str, missing: str) -> None:
    layer = qkv(make_config(**NORM), 96, heads=4, kv_heads=2)
    for shard, rows in {"q": 64, "k": 32, "v": 32}.items():
        make_projection("bitlinear", rows, norm=shard != missing).load(layer, shard)
    with pytest.raises(ValueError) as error:
        finish(layer)
    assert str(error.value) == (
        f"model.layers.0.self_attn.{missing}_proj.rms_norm.weight is missing from the checkpoint "
        "or holds NaN, but quantization_config has use_rms_norm true."
    )


@pytest.mark.parametrize("shape", [(95,), (97,), (1, 96), ()])
def test_norm_of_another_size_is_refused(device: str, shape: tuple[int, ...]) -> None:
    layer = column(make_config(**NORM), 96, 64)
    with pytest.raises(ValueError) as error:
        load(layer.rms_norm, "weight", torch.ones(shape, device="cpu"))
    assert str(error.value) == (
        f"model.layers.0.mlp.up_proj.rms_norm.weight has shape {list(shape)} in the checkpoint, "
        "but [96] was expected."
    )
