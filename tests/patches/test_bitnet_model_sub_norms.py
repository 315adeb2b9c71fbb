# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A norm between two projections spans the parts that the ranks have, for any number of them."""

from collections.abc import Callable

import pytest

pytest.importorskip("vllm")

import torch
from bitnet_models import one_process
from vllm.model_executor.model_loader import weight_utils
from vllm.model_executor.models import bitnet

__all__ = ["one_process"]

SIZE, EPS = 96, 1e-5


@pytest.fixture
def ranks(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int, torch.Tensor], None]:
    """Pretend to be a rank of so many, which all have a part of `x`."""

    def pretend(rank: int, size: int, x: torch.Tensor) -> None:
        squares = x.float().square().sum(dim=-1, keepdim=True)
        monkeypatch.setattr(weight_utils, "get_tensor_model_parallel_rank", lambda: rank)
        monkeypatch.setattr(bitnet, "get_tensor_model_parallel_world_size", lambda: size)
        monkeypatch.setattr(bitnet, "tensor_model_parallel_all_reduce", lambda _: squares)

    return pretend


def exact(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    values = x.double()
    return values * (values.square().mean(-1, keepdim=True) + EPS).rsqrt() * weight.double()


@pytest.mark.usefixtures("one_process")
@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_parts_are_the_whole_norm(
    device: str,
    ranks: Callable[[int, int, torch.Tensor], None],
    size: int,
    dtype: torch.dtype,
) -> None:
    # Small, so that epsilon counts; and one rank has much smaller features than the others.
    x = torch.randn(5, SIZE) * 0.01
    x[:, : SIZE // 3] *= 0.1
    x, weight = x.to(dtype), torch.rand(SIZE) + 0.5
    parts = []
    for rank, part in enumerate(x.chunk(size, dim=-1)):
        ranks(rank, size, x)
        norm = bitnet.BitNetSubNorm(SIZE, eps=EPS).to(device)
        norm.weight.data = norm.weight.data.to(dtype)
        norm.weight.weight_loader(norm.weight, weight.to(dtype).cpu())
        parts.append(norm(part.contiguous()))

    rounding = 4 * torch.finfo(dtype).eps
    whole = torch.cat(parts, dim=-1).double()
    torch.testing.assert_close(whole, exact(x, weight.to(dtype)), rtol=rounding, atol=1e-6)
