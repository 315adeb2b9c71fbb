# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Compiled with programmatic dependent launch, layers give the bits that they give without."""

import pytest

pytest.importorskip("vllm._ternary_C")

import torch
from ternary_ops import GPU, make_product
from torch._inductor.utils import run_and_get_code
from vllm import _custom_ops as ops

HAS_LAUNCH = GPU and torch.cuda.get_device_capability()[0] >= 9
needs_launch = pytest.mark.skipif(not HAS_LAUNCH, reason="needs an NVIDIA GPU of 9.0 or later")
pytestmark = [pytest.mark.gpu, needs_launch]
SIZE, LAYERS, REPLAYS = 1024, 6, 50


@pytest.mark.parametrize("act_int8", [False, True])
@pytest.mark.parametrize("group_size", [-1, 128])
@pytest.mark.parametrize("m", [1, 8, 40])
def test_replayed_graph(m: int, group_size: int, act_int8: bool) -> None:
    layer = make_product(m, SIZE, SIZE, group_size=group_size, act_int8=act_int8)
    packed, ones = layer.packed, torch.ones(SIZE, device="cuda", dtype=layer.x.dtype)
    # Otherwise inductor times several orders of a sum, and takes another one each time; and takes
    # code of an earlier run, without a look at the option.
    options = {"deterministic": True, "fx_graph_cache": False}

    def product(x: torch.Tensor) -> torch.Tensor:
        return ops.ternary_gemm(x, packed, layer.scale, None, SIZE, SIZE, group_size, act_int8)

    def block(x: torch.Tensor) -> torch.Tensor:
        residual = x
        for _ in range(LAYERS):
            x = torch.nn.functional.rms_norm(x + residual, (SIZE,), ones)
            residual = 0.5 * residual + x
            x = product(x)
            x = torch.tanh(x) + residual
        return x

    def replayed(pdl: bool) -> list[torch.Tensor]:
        chosen = {**options, "triton.enable_pdl": pdl}
        compiled = torch.compile(block, fullgraph=True, options=chosen)
        _, code = run_and_get_code(compiled, layer.x)
        for step in ("gdc_wait", "gdc_launch_dependents"):
            assert any(step in part for part in code) == pdl
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

    # Until a process has compiled an operator once, inductor does not know that it reads its input
    # from memory, and others that use the same tensor compute it again, without its rounding.
    torch.compile(product, fullgraph=True, options=options)(layer.x)

    expected, *_ = replayed(pdl=False)
    assert expected.isfinite().all()
    for out in replayed(pdl=True):
        assert torch.equal(out, expected)
