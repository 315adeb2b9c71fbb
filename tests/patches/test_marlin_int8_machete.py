# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""On Hopper, layers that ask for int8 activations get Marlin; the others still get Machete."""

import pytest

pytest.importorskip("vllm")

import torch
from vllm.model_executor.kernels import linear
from vllm.model_executor.kernels.linear import (
    MacheteLinearKernel,
    MarlinLinearKernel,
    MPLinearLayerConfig,
)
from vllm.platforms import current_platform
from vllm.platforms.interface import DeviceCapability, PlatformEnum
from vllm.scalar_type import scalar_types


@pytest.mark.parametrize(
    ("act_type", "kernel"),
    [(torch.int8, MarlinLinearKernel), (torch.bfloat16, MacheteLinearKernel)],
)
def test_choice(
    monkeypatch: pytest.MonkeyPatch, act_type: torch.dtype, kernel: type[object]
) -> None:
    monkeypatch.setattr(current_platform, "is_cuda", lambda: True)
    monkeypatch.setattr(current_platform, "is_cpu", lambda: False)
    monkeypatch.setattr(
        current_platform, "get_device_capability", lambda *_: DeviceCapability(9, 0)
    )
    monkeypatch.setattr(current_platform, "is_device_capability", lambda c: c in (90, (9, 0)))
    kernels = linear._POSSIBLE_KERNELS[PlatformEnum.CUDA]
    monkeypatch.setattr(linear, "_resolve_backend_kernels", lambda *_, **__: kernels)
    config = MPLinearLayerConfig(
        full_weight_shape=(1024, 256),
        partition_weight_shape=(1024, 256),
        weight_type=scalar_types.uint4b8,
        act_type=act_type,
        group_size=128,
        zero_points=False,
    )
    assert linear.choose_mp_linear_kernel(config, compute_capability=90) is kernel
