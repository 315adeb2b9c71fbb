# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Products that feed one another see finished inputs, though their starts overlap."""

import pytest
import torch
from ternary_ops import OPS, make_product, needs_gpu

pytestmark = [pytest.mark.gpu, needs_gpu]


@pytest.mark.parametrize("act_int8", [False, True])
@pytest.mark.parametrize("m", [1, 16, 64])
def test_chain(m: int, act_int8: bool) -> None:
    up = make_product(m, 4096, 1024, act_int8=act_int8)
    down = make_product(m, 1024, 4096, act_int8=act_int8)
    packed = (up.packed, down.packed)

    def chain(synchronize: bool) -> torch.Tensor:
        x = up.x
        for _ in range(4):
            for layer, weight in zip((up, down), packed, strict=True):
                n, k = layer.codes.shape
                x = OPS.ternary_gemm(x, weight, layer.scale, None, n, k, -1, act_int8)
                if synchronize:
                    torch.cuda.synchronize()
        return x

    expected = chain(synchronize=True)
    for _ in range(10):
        assert torch.equal(chain(synchronize=False), expected)
