# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Quantization schemes as a model makes them for a layer, with Marlin chosen."""

from typing import Any
from unittest import mock

import pytest
import torch
from vllm.model_executor.kernels.linear import MarlinLinearKernel
from vllm.model_executor.layers.quantization.compressed_tensors.schemes import (
    compressed_tensors_wNa16,
)


def kernel_of(scheme: Any, layer: torch.nn.Module, size_k: int) -> Any:
    """The kernel that a scheme or method makes for a layer of 256 x size_k."""
    scheme.create_weights(
        layer,
        output_size=256,
        input_size=size_k,
        output_partition_sizes=[256],
        input_size_per_partition=size_k,
        params_dtype=torch.bfloat16,
        weight_loader=lambda *_: None,
    )
    return scheme.kernel


def act_type_of(scheme: Any) -> torch.dtype:
    """The activation type of the kernel that a scheme of compressed-tensors makes for a layer."""
    act_type: torch.dtype = kernel_of(scheme, torch.nn.Module(), 256).config.act_type
    return act_type


def compressed_tensors_act_type(
    monkeypatch: pytest.MonkeyPatch, name: str, num_bits: int
) -> torch.dtype:
    """The activation type of a compressed-tensors layer's kernel, group size 128, bf16 model."""
    choose = mock.Mock(return_value=MarlinLinearKernel)
    monkeypatch.setattr(compressed_tensors_wNa16, "choose_mp_linear_kernel", choose)
    for rank_or_size, value in (("rank", 0), ("world_size", 1)):
        monkeypatch.setattr(
            f"vllm.model_executor.parameter.get_tensor_model_parallel_{rank_or_size}",
            lambda value=value: value,
        )
    scheme = compressed_tensors_wNa16.CompressedTensorsWNA16(
        strategy="group", num_bits=num_bits, group_size=128, layer_name=name
    )
    return act_type_of(scheme)
