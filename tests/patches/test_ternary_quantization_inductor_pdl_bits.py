# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Compiled with programmatic dependent launch, layers give the bits that they give without."""

import pytest

pytest.importorskip("vllm._ternary_C")

import torch
from ternary_ops import make_product, needs_gpu
from vllm import _custom_ops as ops

pytestmark = [pytest.mark.gpu, needs_gpu]
SIZE, LAYERS, REPLAYS = 1024, 6, 50


@pytest.mark.parametrize("act_int8", [False, True])
@pytest.mark.parametrize("m", [1, 8, 40])
def test_replayed_graph(m: int, act_int8: bool) -> None:
    layer = make_product(m, SIZE, SIZE, act_int8=act_int8)
    packed, ones = layer.packed, torch.ones(SIZE, device="cuda", dtype=layer.x.dtype)

    def block(x: torch.Tensor) -> torch.Tensor:
        residual = x
        for _ in range(LAYERS):
            x = torch.nn.functional.rms_norm(x + residual, (SIZE,), ones)
            residual = 0.5 * residual + x
            x = ops.ternary_gemm(x, packed, layer.scale, None, SIZE, SIZE, -1, act_int8)
            x = torch.tanh(x) + residual
        return x

    def replayed(pdl: bool) -> list[torch.Tensor]:
        torch._dynamo.reset()
        # Otherwise inductor times several orders of a sum, and takes another one each time.
        options = {"triton.enable_pdl": pdl, "deterministic": True}
        compiled = torch.compile(block, fullgraph=True, options=options)
        compiled(layer.x)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = compiled(layer.x)
        found = []
        for _ in range(REPLAYS):
            out.zero_()
            graph.replay()
            found.append(out.clone())
        return found

    expected, *_ = replayed(pdl=False)
    assert expected.isfinite().all()
    for out in replayed(pdl=True):
        assert torch.equal(out, expected)
