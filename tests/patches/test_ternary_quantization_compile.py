# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""torch.compile takes a ternary layer whole, for any number of tokens."""

import pytest

pytest.importorskip("vllm")

import torch
from ternary_layers import (
    assert_product,
    column,
    dequantize,
    finish,
    load,
    make_config,
    quantize_tokens,
    random_codes,
    random_input,
    random_scale,
)


@pytest.mark.parametrize("activation", ["a16", "int8"])
def test_one_graph_for_all_sizes(device: str, activation: str) -> None:
    codes, scale = random_codes(16, 128), random_scale(16, 2)
    layer = column(make_config(group_size=64, activation=activation), 128, 16)
    load(layer, "weight", codes)
    load(layer, "weight_scale", scale)
    finish(layer)
    graphs = []

    def count(graph: torch.fx.GraphModule, _: object) -> object:
        graphs.append(graph)
        return graph

    compiled = torch.compile(layer.forward, fullgraph=True, dynamic=True, backend=count)

    for tokens in (2, 5, 64):
        x = random_input(tokens, 128)
        exact = quantize_tokens(x) if activation == "int8" else x
        assert_product(compiled(x), exact, dequantize(codes, scale))
    assert len(graphs) == 1
