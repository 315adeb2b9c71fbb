# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""torch.compile takes a BitNet layer whole, for any number of tokens."""

import pytest

pytest.importorskip("vllm")

import torch
from bitnet_layers import (
    NORM,
    assert_same,
    expected,
    fuse,
    make_config,
    make_input,
    make_projection,
)
from ternary_layers import gate_up


@pytest.mark.parametrize("norm", [False, True])
def test_one_graph_for_all_sizes(device: str, norm: bool) -> None:
    layer = gate_up(make_config(**(NORM if norm else {})), 96, 32)
    parts = {seed: make_projection("bitlinear", 32, norm=norm, seed=seed) for seed in (0, 1)}
    fuse(layer, parts)
    graphs = []

    def count(graph: torch.fx.GraphModule, _: object) -> object:
        graphs.append(graph)
        return graph

    compiled = torch.compile(layer.forward, fullgraph=True, dynamic=True, backend=count)

    for tokens in (2, 5, 64):
        x = make_input(device, tokens)
        assert_same(compiled(x), expected(parts.values(), x))
    assert len(graphs) == 1
