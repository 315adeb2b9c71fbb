# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""int4 layers for MarlinLinearKernel, and a stand-in for its CUDA operations on a CPU.

The stand-in keeps the contract of the CUDA kernel as far as the Python side can break it: the
layout of scales and zero points, int16 group scales read as unsigned, a 32-bit accumulator, and
which weight type goes with zero points. The GPU tests run the same layers through the real one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch
import vllm.model_executor.layers.quantization.utils.marlin_utils as marlin_utils
from vllm import _custom_ops as ops
from vllm.model_executor.kernels.linear import MarlinLinearKernel, MPLinearLayerConfig
from vllm.model_executor.parameter import (
    ChannelQuantScaleParameter,
    GroupQuantScaleParameter,
    PackedvLLMParameter,
)
from vllm.platforms import current_platform
from vllm.scalar_type import scalar_types

INT8_LIMIT = 0.0105  # relative error of int8 activations, rounding of the activations included
A16_LIMIT = 0.0026  # relative error of 16-bit activations in bf16


@dataclass
class Checkpoint:
    """One layer as a checkpoint has it: w = scale * (code - zero), each of shape [N, K or G]."""

    codes: torch.Tensor  # int32 [N, K], 0..15
    scales: torch.Tensor  # bf16 or fp16 [N, G]
    zeros: torch.Tensor | None = None  # int32 [N, G], 0..15; None: symmetric, zero point 8

    @property
    def group_size(self) -> int:
        return self.codes.shape[1] // self.scales.shape[1]

    def integers(self) -> torch.Tensor:
        """The weight's integers, code - zero, int32 [N, K]."""
        zeros = 8 if self.zeros is None else self.zeros.repeat_interleave(self.group_size, 1)
        return self.codes - zeros

    def weight(self) -> torch.Tensor:
        """The weight in float64 [N, K]."""
        return self.integers().double() * self.scales.double().repeat_interleave(self.group_size, 1)


def checkpoint(
    n: int,
    k: int,
    groups: int,
    *,
    negative: float = 0.0,
    asymmetric: bool = False,
    dtype: torch.dtype = torch.bfloat16,
    device: str = "cpu",
) -> Checkpoint:
    """A random layer in which a share of the group scales is negative.

    Each group holds a code 0, which symmetric layers read as -8, as AutoRound writes them.
    """
    g = torch.Generator(device=device).manual_seed(n + k + groups)
    random = {"generator": g, "device": device}
    codes = torch.randint(0, 16, (n, k), dtype=torch.int32, **random)
    codes.view(n, groups, -1)[:, :, 0] = 0
    scales = torch.rand((n, groups), **random) * 0.01 + 0.001
    scales[torch.rand((n, groups), **random) < negative] *= -1
    zeros = torch.randint(0, 16, (n, groups), dtype=torch.int32, **random) if asymmetric else None
    return Checkpoint(codes, scales.to(dtype), zeros)


def pack_rows(values: torch.Tensor) -> torch.Tensor:
    """Pack 4-bit values along the last dimension, little end first: [..., i] -> [..., i / 8]."""
    shifts = torch.arange(0, 32, 4, device=values.device)
    return (values.to(torch.int64).unflatten(-1, (-1, 8)) << shifts).sum(-1).to(torch.int32)


def unpack_rows(words: torch.Tensor) -> torch.Tensor:
    """Inverse of pack_rows."""
    shifts = torch.arange(0, 32, 4, device=words.device)
    return ((words.unsqueeze(-1) >> shifts) & 15).flatten(-2).to(torch.int32)


@mock.patch("vllm.model_executor.parameter.get_tensor_model_parallel_rank", lambda: 0)
@mock.patch("vllm.model_executor.parameter.get_tensor_model_parallel_world_size", lambda: 1)
def load(c: Checkpoint, name: str = "model.layers.0.mlp.down_proj") -> torch.nn.Module:
    """A layer that holds the checkpoint in the compressed-tensors layout, not yet processed."""
    layer = torch.nn.Module()
    layer.prefix = name
    loader: dict[str, Any] = {"weight_loader": lambda *args, **kwargs: None}
    packed: dict[str, Any] = {"packed_factor": 8, "input_dim": 1, "output_dim": 0, **loader}
    layer.weight_packed = PackedvLLMParameter(data=pack_rows(c.codes), packed_dim=1, **packed)
    scales = c.scales.clone()
    if scales.shape[1] == 1:
        layer.weight_scale = ChannelQuantScaleParameter(data=scales, output_dim=0, **loader)
    else:
        layer.weight_scale = GroupQuantScaleParameter(
            data=scales, input_dim=1, output_dim=0, **loader
        )
    if c.zeros is not None:
        zeros = pack_rows(c.zeros.t().contiguous()).t().contiguous()  # [N / 8, G]
        layer.weight_zero_point = PackedvLLMParameter(data=zeros, packed_dim=0, **packed)
    return layer


def kernel(
    c: Checkpoint, act_type: torch.dtype, group_size: int | None = None
) -> MarlinLinearKernel:
    """The Marlin kernel for such a layer; group_size defaults to the checkpoint's, -1 if one."""
    n, k = c.codes.shape
    if group_size is None:
        group_size = -1 if c.scales.shape[1] == 1 else c.group_size
    config = MPLinearLayerConfig(
        full_weight_shape=(k, n),
        partition_weight_shape=(k, n),
        weight_type=scalar_types.uint4b8 if c.zeros is None else scalar_types.uint4,
        act_type=act_type,
        group_size=group_size,
        zero_points=c.zeros is not None,
    )
    return MarlinLinearKernel(
        config,
        w_q_param_name="weight_packed",
        w_s_param_name="weight_scale",
        w_zp_param_name="weight_zero_point",
    )


def relative_error(
    c: Checkpoint, act_type: torch.dtype, tokens: int = 64, group_size: int | None = None
) -> float:
    """||y - x w^T|| / ||x w^T|| of the processed layer for normal activations, in float64."""
    layer = load(c)
    k = kernel(c, act_type, group_size)
    k.process_weights_after_loading(layer)
    device = c.codes.device
    g = torch.Generator(device=device).manual_seed(1)
    x = torch.randn((tokens, c.codes.shape[1]), generator=g, device=device).to(c.scales.dtype)
    reference = x.double() @ c.weight().t()
    y = k.apply_weights(layer, x)
    return float((y.double() - reference).norm() / reference.norm())


def unprocess_scales(s: torch.Tensor, is_a_8bit: bool) -> torch.Tensor:
    """Undo marlin_permute_scales: [G, N] in the kernel's order -> [G, N]."""
    grouped, single = marlin_utils.get_scale_perms()
    perm = np.argsort(single if is_a_8bit or s.shape[0] == 1 else grouped)
    return s.reshape(-1, len(perm))[:, perm].reshape(s.shape)


def unprocess_zeros(zp: torch.Tensor, is_a_8bit: bool) -> torch.Tensor:
    """Undo marlin_zero_points: int32 [G, N / 8] -> int32 [G, N]."""
    values = unpack_rows(zp)
    if not is_a_8bit:
        interleave = np.argsort([0, 2, 4, 6, 1, 3, 5, 7])
        values = values.reshape(-1, 8)[:, interleave].reshape(values.shape)
    perm = np.argsort(marlin_utils.get_scale_perms()[0])
    return values.reshape(-1, len(perm))[:, perm].reshape(values.shape)


def kernel_integers(
    weight: torch.Tensor, zeros: torch.Tensor, groups: int, is_a_8bit: bool
) -> torch.Tensor:
    """The integers that the kernel multiplies, code - zero point, int64 [K, N]."""
    n, k = marlin_utils.marlin_repacked_nk(weight, 4)
    codes = unpack_rows(weight.reshape(k // 8, n).t()).t()
    if zeros.numel() == 0:
        return codes.long() - 8
    return codes.long() - unprocess_zeros(zeros, is_a_8bit).long().repeat_interleave(k // groups, 0)


def emulate(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Replace the CUDA operations with CPU ones. Returns the list that takes the GEMM calls."""
    calls: list[dict[str, Any]] = []

    def repack(b_q_weight: torch.Tensor, size_k: int, size_n: int, num_bits: int, is_a_8bit: bool):  # type: ignore[no-untyped-def]
        assert b_q_weight.shape == (size_k * num_bits // 32, size_n) and b_q_weight.is_contiguous()
        return b_q_weight.reshape(size_k // 16, size_n * num_bits // 2)

    def quantize(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        scale = x.float().abs().amax(-1, keepdim=True).clamp(min=1e-10) / 127
        return (x.float() / scale).round().to(torch.int8), scale

    def gemm(
        a: torch.Tensor,
        out: None,
        weight: torch.Tensor,
        bias: torch.Tensor | None,
        scales: torch.Tensor,
        a_scales: torch.Tensor | None,
        global_scale: torch.Tensor | None,
        zeros: torch.Tensor | None,
        workspace: torch.Tensor,
        type_id: int,
        size_m: int,
        size_n: int,
        size_k: int,
        *_: bool,
    ) -> torch.Tensor:
        zeros = torch.empty(0, dtype=torch.int32) if zeros is None else zeros
        calls.append({"type_id": type_id, "zeros": zeros, "a": a.dtype})
        has_zp = zeros.numel() > 0
        assert type_id == (scalar_types.uint4 if has_zp else scalar_types.uint4b8).id
        groups, int8 = scales.shape[0], a.dtype == torch.int8
        assert (a_scales is not None) == int8
        w = kernel_integers(weight, zeros, groups, int8)
        s = unprocess_scales(scales, int8)
        if not int8:
            y = a.double() @ (w * s.double().repeat_interleave(size_k // groups, 0))
        elif groups == 1:
            y = (a.double() @ w.double()) * s.double()
        else:
            unsigned = s.view(torch.int16).long() & 0xFFFF
            sums = torch.einsum(
                "mgk,gkn->mgn",
                a.double().unflatten(1, (groups, -1)),
                w.double().unflatten(0, (groups, -1)),
            )
            y = (sums.long() * unsigned).sum(1).to(torch.int32).double()  # wraps at 32 bits
        if a_scales is not None:
            y = y * a_scales.double()
        if bias is not None:
            y = y + unprocess_scales(bias.reshape(1, -1), True).double()
        return y.to(scales.dtype)

    monkeypatch.setattr(ops, "gptq_marlin_repack", repack)
    monkeypatch.setattr(marlin_utils, "per_token_quant_int8", quantize)
    monkeypatch.setattr(marlin_utils, "get_marlin_workspace", lambda device: torch.empty(0))
    monkeypatch.setattr(torch.ops._C, "marlin_gemm", gemm, raising=False)
    if not current_platform.is_cpu():  # vLLM's own operator is registered for the GPU only
        monkeypatch.setattr(torch.ops.vllm, "marlin_gemm", marlin_utils._marlin_gemm)
    return calls
