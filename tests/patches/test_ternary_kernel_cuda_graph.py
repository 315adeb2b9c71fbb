# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Captured into a CUDA graph, the product follows its inputs from replay to replay."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from ternary_ops import assert_agrees, make_product, needs_gpu, reference

pytestmark = [pytest.mark.gpu, needs_gpu]

# Both sides of each border: of plans and token tiles, of decode, and of prefill's tiles.
COUNTS = [1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65, 128, 129, 300]
REPLAYS = 3


def captured(run: Callable[[], torch.Tensor]) -> tuple[torch.cuda.CUDAGraph, list[torch.Tensor]]:
    """A graph of two runs, the second of which may start while the first goes on; its results."""
    run()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = [run(), run()]
    return graph, results


@pytest.mark.parametrize("act_int8", [False, True])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(
    ("n", "k", "group_size", "scale_bits"),
    [
        (1536, 8960, -1, 32),
        (1536, 8960, 128, 32),
        (1536, 8960, 128, 16),
        (28672, 4096, -1, 32),
        (4096, 14336, 128, 32),
        (4096, 14336, 128, 16),
        (1533, 4104, -1, 32),
        (333, 1216, 64, 32),
        (328, 1216, 64, 16),
    ],
)
def test_replay(
    n: int, k: int, group_size: int, scale_bits: int, dtype: torch.dtype, act_int8: bool
) -> None:
    scale_dtype = dtype if scale_bits == 16 else torch.float32
    whole = make_product(max(COUNTS), n, k, dtype, group_size, act_int8, True, scale_dtype)
    packed = whole.packed
    inputs = [torch.randn_like(whole.x) for _ in range(REPLAYS)]
    exact = [reference(replace(whole, x=x)) for x in inputs]
    for count in COUNTS:
        product = whole.first(count)
        graph, results = captured(lambda product=product: product.run(packed))
        for x, expected in zip(inputs, exact, strict=True):
            product.x.copy_(x[:count])
            for result in results:
                result.fill_(float("nan"))
            graph.replay()
            assert_agrees(results[0], *(value[:count] for value in expected))
            assert torch.equal(*results)
