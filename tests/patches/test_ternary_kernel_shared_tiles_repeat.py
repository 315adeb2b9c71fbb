# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Products whose tiles are shared among blocks give the same bits one after the other, at once on
two streams, and in each replay of a graph, whatever the workspace held before."""

from dataclasses import replace

import pytest
import torch
from ternary_ops import make_product, needs_gpu

pytestmark = [pytest.mark.gpu, needs_gpu]

SHAPES = [(96, 4096, 4096), (256, 1536, 8960)]


@pytest.mark.parametrize("act_int8", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_two_streams(shape: tuple[int, int, int], act_int8: bool) -> None:
    product = make_product(*shape, act_int8=act_int8)
    packed = product.packed
    inputs = [replace(product, x=torch.randn_like(product.x)) for _ in range(2)]
    alone = [one.run(packed) for one in inputs]
    streams = [torch.cuda.Stream() for _ in inputs]
    torch.cuda.synchronize()
    results: list[list[torch.Tensor]] = [[] for _ in inputs]
    for _ in range(20):
        for i, stream in enumerate(streams):
            with torch.cuda.stream(stream):
                results[i].append(inputs[i].run(packed))
    torch.cuda.synchronize()
    for expected, several in zip(alone, results, strict=True):
        assert all(torch.equal(expected, one) for one in several)


@pytest.mark.parametrize("act_int8", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_graph_of_products_in_turn(shape: tuple[int, int, int], act_int8: bool) -> None:
    product = make_product(*shape, act_int8=act_int8)
    packed = product.packed
    inputs = [replace(product, x=torch.randn_like(product.x)) for _ in range(3)]
    alone = [one.run(packed) for one in inputs]
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = [one.run(packed) for one in inputs]
    for _ in range(10):
        for one in results:
            one.fill_(float("nan"))
        graph.replay()
        for expected, one in zip(alone, results, strict=True):
            assert torch.equal(expected, one)
