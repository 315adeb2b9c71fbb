# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""torch.compile takes the product into a graph with what surrounds it, for any token count."""

import pytest

pytest.importorskip("vllm._ternary_C")

import torch
from ternary_ops import make_product, needs_gpu
from torch._dynamo.testing import CompileCounterWithBackend
from vllm import _custom_ops as ops

pytestmark = [pytest.mark.gpu, needs_gpu]


@pytest.mark.parametrize("act_int8", [False, True])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(
    ("n", "k", "group_size"), [(512, 256, -1), (333, 1152, 128), (200, 576, 64)]
)
def test_compiled_equals_eager(
    n: int, k: int, group_size: int, dtype: torch.dtype, act_int8: bool
) -> None:
    product = make_product(300, n, k, dtype, group_size, act_int8, bias=True)
    packed, scale, bias = product.packed, product.scale, product.bias

    def layer(x: torch.Tensor) -> torch.Tensor:
        y = ops.ternary_gemm(x * 2, packed, scale, bias, n, k, group_size, act_int8)
        return torch.relu(y)

    torch._dynamo.reset()
    backend = CompileCounterWithBackend("inductor")
    compiled = torch.compile(layer, fullgraph=True, dynamic=True, backend=backend)
    for count in (2, 1, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65, 128, 129, 300):
        x = product.first(count).x
        torch.testing.assert_close(compiled(x), layer(x), rtol=0, atol=0)
    # One token is a size of its own to the compiler; all others share their code.
    assert backend.frame_count <= 2
