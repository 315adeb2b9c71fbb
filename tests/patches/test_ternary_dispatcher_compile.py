# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""torch.compile takes the product into a graph with what surrounds it, for any token count."""

import pytest

pytest.importorskip("vllm._ternary_C")

import torch
from ternary_ops import make_product, needs_gpu
from vllm import _custom_ops as ops

pytestmark = [pytest.mark.gpu, needs_gpu]


@pytest.mark.parametrize("act_int8", [False, True])
def test_compiled_equals_eager(act_int8: bool) -> None:
    product = make_product(64, 512, 256, act_int8=act_int8)
    packed = product.packed

    def layer(x: torch.Tensor) -> torch.Tensor:
        y = ops.ternary_gemm(x * 2, packed, product.scale, None, 512, 256, -1, act_int8)
        return torch.relu(y)

    compiled = torch.compile(layer, fullgraph=True, dynamic=True)
    for count in (1, 5, 16, 64):
        x = product.x[:count].contiguous()
        torch.testing.assert_close(compiled(x), layer(x), rtol=0, atol=0)
