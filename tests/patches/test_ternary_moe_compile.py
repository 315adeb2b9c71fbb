# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""torch.compile takes ternary experts as one operator, for any number of tokens."""

import pytest

pytest.importorskip("vllm")

import torch
from ternary_layers import make_config, random_input
from ternary_moe_layers import (
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


def test_one_graph_for_all_sizes(device: str) -> None:
    weights = make_weights(32)
    layer = fill(experts(make_config(group_size=32)), tensors_of(weights))
    run(layer, random_input(2, HIDDEN), *routing(2))
    graphs = []

    def count(graph: torch.fx.GraphModule, _: object) -> object:
        graphs.append(graph)
        return graph

    compiled = torch.compile(layer.forward_modular, fullgraph=True, dynamic=True, backend=count)

    for tokens in (2, 5, 16):
        x, (router_weights, ids) = random_input(tokens, HIDDEN), routing(tokens)
        out = compiled(x, router_weights, ids)
        assert_close(out, expected(weights, x, router_weights, ids))
    assert len(graphs) == 1
