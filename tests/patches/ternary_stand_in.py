# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The ternary operators written out for a CPU: the layout code by code, the product in float64."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest
import torch
from ternary_layers import dequantize, quantize_tokens
from vllm import _custom_ops as ops
from vllm.model_executor.layers.quantization import get_quantization_config, ternary


def code_positions(rows: int, columns: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Word and bit of each code of a [rows, columns] weight, as layout.cuh describes them."""
    row, column = torch.arange(rows).view(-1, 1), torch.arange(columns).view(1, -1)
    p, i, j = column // 32 % 4, column // 16 % 2, column // 8 % 2
    t, h = column // 2 % 4, column % 2
    unit = row // 16 * -(-columns // 128) + column // 128
    word = unit * 128 + (row % 8 * 4 + t) * 4 + row // 8 % 2 + 2 * j
    return word, (16 * h + 8 * i + 2 * p).expand(rows, -1)


def kernel_pack(codes: torch.Tensor) -> torch.Tensor:
    """int8 [N, K] -> int32 [ceil(N / 16), 128 * ceil(K / 128)], what ternary_pack gives."""
    rows, columns = codes.shape
    tiles, units = -(-rows // 16), -(-columns // 128)
    word, bit = code_positions(rows, columns)
    words = torch.full((tiles * units * 128,), 0xAAAAAAAA)  # weights 0
    words.index_add_(0, word.flatten(), (codes.long() << bit).flatten())
    words = torch.where(words >= 2**31, words - 2**32, words)
    return words.to(torch.int32).view(tiles, units * 128)


def kernel_unpack(packed: torch.Tensor, rows: int, columns: int) -> torch.Tensor:
    """The int8 [rows, columns] that `kernel_pack` was given."""
    word, bit = code_positions(rows, columns)
    return ((packed.flatten().long()[word] >> bit & 3) - 2).to(torch.int8)


def kernel_gemm(
    x: torch.Tensor,
    weight: torch.Tensor,
    scale: torch.Tensor,
    bias: torch.Tensor | None,
    size_n: int,
    size_k: int,
    group_size: int,
    act_int8: bool,
) -> torch.Tensor:
    """What ternary_gemm gives, for weights of `kernel_pack`; checks that it is called right."""
    assert x.ndim == 2 and x.is_contiguous() and x.shape[1] == size_k and size_k % 8 == 0
    assert weight.dtype == torch.int32 and weight.is_contiguous()
    assert weight.shape == (-(-size_n // 16), -(-size_k // 128) * 128)
    groups = 1 if group_size == -1 else size_k // group_size
    assert scale.shape == (groups, size_n) and scale.is_contiguous()
    exact = quantize_tokens(x) if act_int8 else x.double()
    out = exact @ dequantize(kernel_unpack(weight, size_n, size_k), scale.T).T
    return (out if bias is None else out + bias).to(x.dtype)


def use_stand_in(
    monkeypatch: pytest.MonkeyPatch,
    pack: Callable[..., torch.Tensor] = kernel_pack,
    gemm: Callable[..., torch.Tensor] = kernel_gemm,
) -> None:
    """Let layers made after it take this for a CUDA platform, and these for its operators."""
    get_quantization_config("ternary")  # imports modules that would ask the GPU they take for given
    namespace = SimpleNamespace(ternary_gemm=gemm)
    monkeypatch.setattr(ternary.torch.ops, "_ternary_C", namespace, raising=False)
    monkeypatch.setattr(ternary.current_platform, "is_cuda", lambda: True, raising=False)
    monkeypatch.setattr(ops, "ternary_pack", pack, raising=False)
    monkeypatch.setattr(ops, "ternary_gemm", gemm, raising=False)
