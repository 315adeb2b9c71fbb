# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""On a GPU the experts are two bits a weight, and each way to run them gives the same bits.

While a CUDA graph is captured, nothing may depend on the routing: every expert is run with every
token, or, when there are fewer tokens, each token with copies of its experts. A stand-in for the
kernel checks this on a CPU.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

pytest.importorskip("vllm")

import torch
from ternary_layers import make_config, random_input
from ternary_moe_layers import (
    EXPERTS,
    HIDDEN,
    INTERMEDIATE,
    TOP_K,
    assert_close,
    expected,
    experts,
    fill,
    make_weights,
    routing,
    run,
    tensors_of,
)
from ternary_stand_in import use_stand_in
from vllm.model_executor.layers.quantization.utils import ternary_experts

FEW, MANY = 1, 9  # fewer pairs of token and expert than half of the experts, and more
assert FEW * TOP_K < EXPERTS // 2 < EXPERTS < MANY * TOP_K


@pytest.fixture(autouse=True)
def kernel(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    use_stand_in(monkeypatch)


@contextmanager
def capturing() -> Iterator[None]:
    """What it is like while a CUDA graph is captured: reading a tensor is an error."""

    def refuse(*_: object) -> None:
        raise AssertionError("the routing was read while a graph was captured")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ternary_experts, "_is_capturing", lambda x: True)
        for name in ("tolist", "item", "nonzero", "__bool__", "__int__"):
            patch.setattr(torch.Tensor, name, refuse)
        yield


pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="a stand-in for a GPU")


@pytest.mark.parametrize("group_size", [None, 0, -1, 32])
@pytest.mark.parametrize("activation", ["a16", "int8"])
def test_output(group_size: int | None, activation: str) -> None:
    weights = make_weights(group_size)
    config = make_config(group_size=group_size, activation=activation)
    layer = fill(experts(config), tensors_of(weights))
    x = random_input(MANY, HIDDEN) * (1 if group_size is not None else HIDDEN**-0.5)
    router_weights, ids = routing(MANY)
    out = run(layer, x, router_weights, ids)
    assert_close(out, expected(weights, x, router_weights, ids, activation == "int8"))


def test_sizes_that_the_kernel_does_not_take() -> None:
    layer = experts(make_config(), hidden_dim=30, intermediate_size=48)
    codes = {
        f"{expert}.{name}.weight": torch.ones(shape, dtype=torch.int8)
        for expert in range(EXPERTS)
        for name, shape in {
            "gate_proj": (48, 30),
            "up_proj": (48, 30),
            "down_proj": (30, 48),
        }.items()
    }
    x = torch.full((FEW, 30), 2.0**-5, dtype=torch.bfloat16)
    out = run(fill(layer, codes), x, *routing(FEW))
    inner = torch.tensor(30 * 2.0**-5)
    exact = 48 * torch.nn.functional.silu(inner) * inner
    torch.testing.assert_close(out.float(), exact.expand(FEW, 30), rtol=2**-7, atol=0)


def test_two_bits_a_weight() -> None:
    layer = fill(experts(make_config(group_size=32)), tensors_of(make_weights(32)))
    # The kernel's units are 16 rows by 128 columns.
    bits = 2 * EXPERTS * 128 * (2 * INTERMEDIATE + HIDDEN)
    scales = EXPERTS * 3 * HIDDEN * INTERMEDIATE // 32
    held = sum(param.nbytes for param in layer.parameters())
    assert held == bits // 8 + scales * 4


@pytest.mark.parametrize("tokens", [FEW, MANY])
@pytest.mark.parametrize("part", [(0, 1), (1, 2)], ids=["all-experts", "half-of-the-experts"])
def test_same_bits_while_capturing(tokens: int, part: tuple[int, int]) -> None:
    layer = experts(make_config(group_size=32), expert_parallel=part)
    fill(layer, tensors_of(make_weights(32)))
    x, (router_weights, ids) = random_input(tokens, HIDDEN), routing(tokens)
    ids[0] = torch.tensor([8, 0, 5])  # in both halves
    eager = run(layer, x, router_weights, ids)
    with capturing():
        captured = run(layer, x, router_weights, ids)
    assert eager.any()
    assert torch.equal(captured, eager)


@pytest.mark.parametrize("tokens", [FEW, MANY])
def test_added_up_in_one_order(tokens: int) -> None:
    weights = make_weights(32)
    alike = {name: weights["0" + name[1:]] for name in weights}
    layer = fill(experts(make_config(group_size=32)), tensors_of(alike))
    x = random_input(tokens, HIDDEN)
    # Of three equal outputs, the first two cancel; in another order, the third is lost.
    ids = torch.tensor([[5, 1, 3]]).expand(tokens, -1)
    router_weights = torch.tensor([[1.0, 2.0**40, -(2.0**40)]]).expand(tokens, -1)
    eager = run(layer, x, router_weights, ids)
    with capturing():
        captured = run(layer, x, router_weights, ids)
    assert eager.any()
    assert torch.equal(captured, eager)


def test_infinite_output_of_another_expert_does_no_harm() -> None:
    tensors = tensors_of(make_weights(32))
    scale = tensors["8.down_proj.weight_scale"]
    tensors["8.down_proj.weight_scale"] = torch.full_like(scale, 3e38)
    layer = fill(experts(make_config(group_size=32)), tensors)
    x, (router_weights, ids) = random_input(MANY, HIDDEN), routing(MANY)
    ids = ids % 2 + torch.tensor([[0, 2, 4]])  # never the last one
    eager = run(layer, x, router_weights, ids)
    with capturing():
        captured = run(layer, x, router_weights, ids)
    assert eager.isfinite().all()
    assert torch.equal(captured, eager)
