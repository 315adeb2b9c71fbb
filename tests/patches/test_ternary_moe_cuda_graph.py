# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A CUDA graph of ternary experts follows the routing it is replayed with, bit by bit."""

import pytest

pytest.importorskip("vllm")

import torch
from ternary_layers import make_config, random_input
from ternary_moe_layers import (
    EXPERTS,
    HIDDEN,
    TOP_K,
    experts,
    fill,
    make_weights,
    routing,
    run,
    tensors_of,
)
from ternary_ops import needs_gpu

pytestmark = [pytest.mark.gpu, needs_gpu]


@pytest.mark.parametrize("tokens", [1, 2, 9])
@pytest.mark.parametrize("activation", ["a16", "int8"])
@pytest.mark.parametrize("part", [(0, 1), (1, 2)], ids=["all-experts", "half-of-the-experts"])
def test_replay(device: str, tokens: int, activation: str, part: tuple[int, int]) -> None:
    assert TOP_K < EXPERTS // 2 < EXPERTS < 9 * TOP_K  # so that both ways to capture are taken
    config = make_config(group_size=32, activation=activation)
    layer = fill(experts(config, expert_parallel=part), tensors_of(make_weights(32)))
    x, (router_weights, ids) = random_input(tokens, HIDDEN), routing(tokens)
    run(layer, x, router_weights, ids)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = run(layer, x, router_weights, ids)

    for seed in (3, 4, 5):
        for held, new in zip((router_weights, ids), routing(tokens, seed), strict=True):
            held.copy_(new)
        x.mul_(1.25)
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(out, run(layer, x, router_weights, ids))
