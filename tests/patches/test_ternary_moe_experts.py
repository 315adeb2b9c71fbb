# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Ternary experts give what their dequantized weights give."""

import itertools

import pytest

pytest.importorskip("vllm")

import torch
from ternary_layers import dequantize, make_config, random_input
from ternary_moe_layers import (
    EXPERTS,
    HIDDEN,
    assert_close,
    expected,
    experts,
    fill,
    make_weights,
    routing,
    run,
    tensors_of,
)
from vllm.model_executor.layers.fused_moe import GateLinear
from vllm.model_executor.layers.fused_moe.activation import MoEActivation
from vllm.model_executor.layers.linear import UnquantizedLinearMethod


@pytest.mark.parametrize("group_size", [None, 0, -1, 32])
@pytest.mark.parametrize("packed", [False, True], ids=["int8", "packed"])
@pytest.mark.parametrize("activation", ["a16", "int8"])
def test_output(device: str, group_size: int | None, packed: bool, activation: str) -> None:
    config = make_config(
        group_size=group_size, format="packed" if packed else "int8", activation=activation
    )
    weights = make_weights(group_size)
    layer = fill(experts(config), tensors_of(weights, packed))
    # Without a scale, gates so far from 0 would hide an activation that is left out.
    x = random_input(9, HIDDEN) * (1 if group_size is not None else HIDDEN**-0.5)
    x[:, 7] *= 30  # which makes the steps of 8-bit activations coarse
    router_weights, ids = routing(9)

    out = run(layer, x, router_weights, ids)

    exact = expected(weights, x, router_weights, ids, activation == "int8")
    assert_close(out, exact)


@pytest.mark.parametrize("tokens", [0, 1])
def test_few_tokens(device: str, tokens: int) -> None:
    weights = make_weights(32)
    layer = fill(experts(make_config(group_size=32)), tensors_of(weights))
    x, (router_weights, ids) = random_input(tokens, HIDDEN), routing(tokens)
    out = run(layer, x, router_weights, ids)
    if tokens:
        assert_close(out, expected(weights, x, router_weights, ids))


def test_order_of_the_tensors_does_not_matter(device: str) -> None:
    tensors = tensors_of(make_weights(32))
    x, (router_weights, ids) = random_input(9, HIDDEN), routing(9)
    config = make_config(group_size=32)
    layers = [
        fill(experts(config), dict(order)) for order in (tensors.items(), sorted(tensors.items()))
    ]
    first, second = (run(layer, x, router_weights, ids) for layer in layers)
    assert torch.equal(first, second)


def test_zero_scale_gives_zeros(device: str) -> None:
    weights = make_weights(32)
    tensors = tensors_of(weights)
    for name, tensor in tensors.items():
        if name.endswith("down_proj.weight_scale"):
            tensors[name] = torch.zeros_like(tensor)
    layer = fill(experts(make_config(group_size=32)), tensors)
    assert not run(layer, random_input(9, HIDDEN), *routing(9)).any()


def test_experts_without_a_gate(device: str) -> None:
    if device == "cpu":
        pytest.skip("vLLM has no such experts on a CPU")
    weights = {name: pair for name, pair in make_weights(32).items() if "gate" not in name}
    layer = experts(make_config(group_size=32), activation=MoEActivation.RELU2_NO_MUL)
    fill(layer, tensors_of(weights))
    x, (router_weights, ids) = random_input(9, HIDDEN), routing(9)

    out = run(layer, x, router_weights, ids)

    exact = torch.zeros(9, HIDDEN, dtype=torch.float64, device="cpu")
    for token, slot in itertools.product(range(9), range(ids.shape[1])):
        up, down = (
            dequantize(*weights[f"{ids[token, slot]}.{name}_proj"]) for name in ("up", "down")
        )
        inner = (up @ x[token].cpu().double()).relu() ** 2
        exact[token] += router_weights[token, slot].item() * (down @ inner)
    # The square is of what was rounded already.
    torch.testing.assert_close(
        out.cpu().double(), exact, rtol=0, atol=exact.abs().max().item() * 2**-6
    )


def test_router_stays_dense(device: str) -> None:
    config = make_config(group_size=32)
    gate = GateLinear(HIDDEN, EXPERTS, quant_config=config, prefix="model.layers.0.mlp.gate")
    assert isinstance(gate.quant_method, UnquantizedLinearMethod)
