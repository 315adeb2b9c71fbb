# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Captured into a CUDA graph, the product follows its inputs from replay to replay."""

from dataclasses import replace

import pytest
import torch
from ternary_ops import assert_exact, make_product, needs_gpu

pytestmark = [pytest.mark.gpu, needs_gpu]


@pytest.mark.parametrize("act_int8", [False, True])
@pytest.mark.parametrize("m", [1, 16, 48, 300])
def test_replay(m: int, act_int8: bool) -> None:
    product = make_product(m, 1536, 8960, act_int8=act_int8, bias=True)
    packed = product.packed
    product.run(packed)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        # Twice in a row: the second may start while the first still runs.
        first = product.run(packed)
        second = product.run(packed)
    for _ in range(3):
        x = torch.randn_like(product.x)
        product.x.copy_(x)
        first.fill_(float("nan"))
        second.fill_(float("nan"))
        graph.replay()
        assert_exact(first, replace(product, x=x))
        assert torch.equal(first, second)
