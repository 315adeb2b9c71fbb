# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Random int4 layers of real shapes, run by the installed vLLM's MarlinLinearKernel."""

from dataclasses import dataclass
from typing import Any
from unittest import mock

import torch
from vllm.model_executor.kernels.linear import MarlinLinearKernel, MPLinearLayerConfig
from vllm.model_executor.layers.quantization.utils import marlin_utils
from vllm.model_executor.parameter import (
    ChannelQuantScaleParameter,
    GroupQuantScaleParameter,
    PackedvLLMParameter,
)
from vllm.scalar_type import scalar_types

PATCHED = hasattr(marlin_utils, "marlin_act_int8_negative_groups")


@dataclass
class Weights:
    """One layer as a checkpoint has it: w = scale * (code - zero)."""

    codes: torch.Tensor  # int32 [N, K], 0..15
    scales: torch.Tensor  # bf16 [N, G]; G = 1: a scale a channel
    zeros: torch.Tensor | None = None  # int32 [N, G], 0..15; None: symmetric, zero point 8

    def dense(self) -> torch.Tensor:
        """The weight in float64 [N, K]."""
        size = self.codes.shape[1] // self.scales.shape[1]
        zeros = 8 if self.zeros is None else self.zeros.repeat_interleave(size, 1)
        return (self.codes - zeros).double() * self.scales.double().repeat_interleave(size, 1)


def random_weights(
    n: int, k: int, groups: int, *, negative: float = 0.0, asymmetric: bool = False, seed: int = 0
) -> Weights:
    """A layer on the GPU in which a share of the group scales is negative.

    Each group holds a code 0 (-8 where symmetric), as AutoRound makes them.
    """
    g = torch.Generator(device="cuda").manual_seed(seed)
    random: dict[str, Any] = {"generator": g, "device": "cuda"}
    codes = torch.randint(0, 16, (n, k), dtype=torch.int32, **random)
    codes.view(n, groups, -1)[:, :, 0] = 0
    scales = torch.rand((n, groups), **random) * 0.01 + 0.001
    scales[torch.rand((n, groups), **random) < negative] *= -1
    zeros = torch.randint(0, 16, (n, groups), dtype=torch.int32, **random) if asymmetric else None
    return Weights(codes, scales.bfloat16(), zeros)


def pack(values: torch.Tensor) -> torch.Tensor:
    """Eight 4-bit values an int32, little end first: [..., i] -> [..., i / 8]."""
    shifts = torch.arange(0, 32, 4, device=values.device, dtype=torch.int32)
    # The values do not overlap, so that the sum is their union; it wraps into the sign bit.
    return (values.unflatten(-1, (-1, 8)) << shifts).sum(-1, dtype=torch.int32)


class MarlinLayer:
    """Weights processed and run as the server does it; `act` is torch.int8 or torch.bfloat16."""

    @mock.patch("vllm.model_executor.parameter.get_tensor_model_parallel_rank", lambda: 0)
    @mock.patch("vllm.model_executor.parameter.get_tensor_model_parallel_world_size", lambda: 1)
    def __init__(self, weights: Weights, act: torch.dtype) -> None:
        n, k = weights.codes.shape
        groups = weights.scales.shape[1]
        self.layer = torch.nn.Module()
        self.layer.prefix = "layer"
        loader: dict[str, Any] = {"weight_loader": lambda *args, **kwargs: None}
        packed: dict[str, Any] = {"packed_factor": 8, "input_dim": 1, "output_dim": 0, **loader}
        self.layer.weight_packed = PackedvLLMParameter(
            data=pack(weights.codes), packed_dim=1, **packed
        )
        scales = weights.scales.clone()
        if groups == 1:
            self.layer.weight_scale = ChannelQuantScaleParameter(
                data=scales, output_dim=0, **loader
            )
        else:
            self.layer.weight_scale = GroupQuantScaleParameter(
                data=scales, input_dim=1, output_dim=0, **loader
            )
        if weights.zeros is not None:
            zeros = pack(weights.zeros.t().contiguous()).t().contiguous()
            self.layer.weight_zero_point = PackedvLLMParameter(data=zeros, packed_dim=0, **packed)
        config = MPLinearLayerConfig(
            full_weight_shape=(k, n),
            partition_weight_shape=(k, n),
            weight_type=scalar_types.uint4b8 if weights.zeros is None else scalar_types.uint4,
            act_type=act,
            group_size=-1 if groups == 1 else k // groups,
            zero_points=weights.zeros is not None,
        )
        self.kernel = MarlinLinearKernel(
            config,
            w_q_param_name="weight_packed",
            w_s_param_name="weight_scale",
            w_zp_param_name="weight_zero_point",
        )
        self.kernel.process_weights_after_loading(self.layer)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """x bf16 [M, K] -> bf16 [M, N]; int8 activations are quantized inside."""
        return self.kernel.apply_weights(self.layer, x)
