# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The operators have fakes: shapes and dtypes without a kernel, so torch.compile can trace them."""

from collections.abc import Callable

import pytest

pytest.importorskip("vllm._ternary_C")

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from vllm import _custom_ops as ops


def test_pack() -> None:
    with FakeTensorMode():
        packed = ops.ternary_pack(torch.empty(40, 300, dtype=torch.int8))
    assert packed.shape == (3, 384)
    assert packed.dtype == torch.int32


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("op", [ops.ternary_gemm, ops.ternary_gemm_naive])
def test_product(op: Callable[..., torch.Tensor], dtype: torch.dtype) -> None:
    with FakeTensorMode():
        x = torch.empty(5, 256, dtype=dtype)
        weight = torch.empty(3, 256, dtype=torch.int32)
        result = op(x, weight, torch.empty(1, 40), None, 40, 256)
    assert result.shape == (5, 40)
    assert result.dtype == dtype


class Layer(torch.nn.Module):
    """A product between ordinary operators."""

    def forward(self, x: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        return ops.ternary_gemm(x + 1, weight, scale, None, 40, 256) * 2


def test_token_count_stays_symbolic() -> None:
    x = torch.empty(5, 256, dtype=torch.bfloat16)
    weight = torch.empty(3, 256, dtype=torch.int32)
    tokens = torch.export.Dim("tokens", min=2, max=4096)
    program = torch.export.export(
        Layer(), (x, weight, torch.empty(1, 40)), dynamic_shapes=({0: tokens}, None, None)
    )
    (node,) = [n for n in program.graph.nodes if "ternary_gemm" in str(n.target)]
    assert isinstance(node.meta["val"].shape[0], torch.SymInt)
    assert node.meta["val"].shape[1] == 40
