# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Large group scales, which prefill multiplies the weights by before any activation."""

import pytest
import torch
from ternary_ops import OPS, needs_gpu

pytestmark = [pytest.mark.gpu, needs_gpu]


@pytest.mark.parametrize("group_size", [32, 128])
@pytest.mark.parametrize("m", [1, 17, 40, 130])
@pytest.mark.parametrize(
    ("dtype", "scale"), [(torch.float16, 65504.0), (torch.bfloat16, 1.5 * 2.0**100)]
)
def test_one_activation_a_token(dtype: torch.dtype, scale: float, m: int, group_size: int) -> None:
    n, k, x = 200, 1152, 2.0**-10
    rows = torch.arange(m, device="cuda")
    columns = rows * 7 % k
    activations = torch.zeros(m, k, device="cuda", dtype=dtype)
    activations[rows, columns] = x
    codes = torch.randint(-1, 2, (n, k), device="cuda", dtype=torch.int8)
    scales = torch.full((k // group_size, n), scale, device="cuda", dtype=dtype)
    result = OPS.ternary_gemm(
        activations, OPS.ternary_pack(codes), scales, None, n, k, group_size, False
    )
    expected = codes.T[columns].double() * (scale * x)
    assert torch.equal(result.double(), expected)
