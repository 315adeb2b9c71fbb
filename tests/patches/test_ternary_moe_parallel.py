# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The ranks' parts of ternary experts add up to the whole; a cut through a group is refused."""

import pytest

pytest.importorskip("vllm")

import torch
from ternary_layers import make_config, random_input
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

RANKS = 3  # of which each has a group of the 96 inner channels


@pytest.mark.parametrize("group_size", [None, 0, -1, 32])
@pytest.mark.parametrize("packed", [False, True], ids=["int8", "packed"])
def test_tensor_parallel(device: str, group_size: int | None, packed: bool) -> None:
    config = make_config(group_size=group_size, format="packed" if packed else "int8")
    weights = make_weights(group_size)
    x = random_input(9, HIDDEN) * (1 if group_size is not None else HIDDEN**-0.5)
    router_weights, ids = routing(9)

    parts = []
    for rank in range(RANKS):
        layer = fill(experts(config, tensor_parallel=(rank, RANKS)), tensors_of(weights, packed))
        parts.append(run(layer, x, router_weights, ids).double())

    exact = expected(weights, x, router_weights, ids)
    assert_close(torch.stack(parts).sum(0), exact)
    # Each has a part of the inner channels, so none is next to nothing.
    assert min(part.norm() for part in parts) > exact.norm() / 4


@pytest.mark.parametrize("ranks", [2, 4])  # of which the first has an expert more
def test_expert_parallel(device: str, ranks: int) -> None:
    weights = make_weights(32)
    x, (router_weights, ids) = random_input(9, HIDDEN), routing(9)

    total = torch.zeros(9, HIDDEN, dtype=torch.float64)
    held = 0
    for rank in range(ranks):
        layer = experts(make_config(group_size=32), expert_parallel=(rank, ranks))
        held += layer.w13_weight.shape[0]
        total += run(fill(layer, tensors_of(weights)), x, router_weights, ids).double()

    assert held == EXPERTS
    assert_close(total, expected(weights, x, router_weights, ids))


def test_tensors_of_experts_elsewhere_are_not_read(device: str) -> None:
    tensors = tensors_of(make_weights(32))
    tensors["0.up_proj.weight"] = torch.full((1, 1), 7, dtype=torch.int8)
    layer = experts(make_config(group_size=32), expert_parallel=(1, 2))
    fill(layer, tensors)


@pytest.mark.parametrize(
    ("quantization", "size", "what"),
    [
        ({"group_size": 64}, 192, "parts of 96, which splits scale groups of 64;"),
        ({"group_size": -1}, 36, "parts of 18, which splits packed bytes of 4;"),
        (
            {"group_size": -1, "format": "packed"},
            36,
            "parts of 18, which splits packed bytes of 4;",
        ),
    ],
    ids=["group", "byte", "packed-byte"],
)
def test_cut(device: str, quantization: dict[str, object], size: int, what: str) -> None:
    config = make_config(**quantization)
    with pytest.raises(ValueError) as error:
        experts(config, tensor_parallel=(0, 2), intermediate_size=size)
    message = str(error.value)
    assert "\n" not in message
    assert message.startswith("model.layers.0.mlp.experts: tensor parallel size 2 cuts its ")
    assert what in message
    # Experts that are not cut have no such limit.
    experts(config, expert_parallel=(0, 2), intermediate_size=size)
