# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Each way to store a projection gives what Transformers' own layer gives, to a rounding."""

import pytest

pytest.importorskip("vllm")

import torch
from bitnet_layers import KINDS, assert_same, make_config, make_input, make_projection
from ternary_layers import column, finish


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [64, 30])
def test_without_a_bias(device: str, kind: str, rows: int) -> None:
    projection = make_projection(kind, rows)
    layer = column(make_config(kind), 96, rows)
    projection.load(layer)
    x = make_input(device)

    assert_same(finish(layer)(x), projection.transformers(x))


@pytest.mark.parametrize("kind", KINDS)
def test_half_precision(device: str, kind: str) -> None:
    projection = make_projection(kind, 64)
    layer = column(make_config(kind), 96, 64)
    projection.load(layer)
    for dtype in (torch.bfloat16, torch.float16):
        x = make_input(device).to(dtype)
        assert_same(finish_once(layer)(x), projection.transformers(x))


def finish_once(layer: torch.nn.Module) -> torch.nn.Module:
    return finish(layer) if hasattr(layer, "weight_packed") else layer


def test_scales_of_the_two_classes_are_not_the_same(device: str) -> None:
    multiplied = make_projection("autobitlinear", 64)
    layer = column(make_config("bitlinear"), 96, 64)
    multiplied.load(layer)
    x = make_input(device)

    factor = multiplied.tensors["weight_scale"].double().item() ** 2
    assert factor < 0.01
    assert_same(finish(layer)(x), multiplied.transformers(x) / factor)


def test_bitlinear_is_the_default() -> None:
    config = make_config()
    assert config.divides and not config.online


def test_online_means_nothing_for_bitlinear(device: str) -> None:
    projection = make_projection("bitlinear", 64)
    layer = column(make_config("bitlinear", quantization_mode="online"), 96, 64)
    projection.load(layer)
    x = make_input(device)

    assert_same(finish(layer)(x), projection.transformers(x))


@pytest.mark.parametrize("activation", ["a16", "int8"])
def test_activations_are_quantized_unless_asked_not_to(device: str, activation: str) -> None:
    projection = make_projection("autobitlinear", 64)
    layer = column(make_config("autobitlinear", activation=activation), 96, 64)
    projection.load(layer)
    # Small beside the largest: these inputs round to nothing in 8 bits.
    x = torch.full((1, 96), 1e-3, dtype=torch.bfloat16)
    x[0, 0] = 1.0

    spread = finish(layer)(x).abs().unique()
    assert len(spread) <= 2 if activation == "int8" else len(spread) > 2
