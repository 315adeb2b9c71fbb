# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""MoE layers: the global factor of the int16 group scales reaches the experts."""

from types import SimpleNamespace

import pytest

pytest.importorskip("vllm")

import torch
from vllm.model_executor.layers.fused_moe.oracle.int_wna16 import WNA16MoEBackend
from vllm.model_executor.layers.quantization.auto_gptq import AutoGPTQConfig, AutoGPTQMoEMethod
from vllm.model_executor.layers.quantization.compressed_tensors.compressed_tensors_moe import (
    compressed_tensors_moe_wna16,
)

FACTORS = {"w13_input_global_scale": torch.tensor(0.5), "w2_input_global_scale": torch.tensor(2.0)}


def test_compressed_tensors() -> None:
    method = object.__new__(compressed_tensors_moe_wna16.CompressedTensorsWNA16MoEMethod)
    method.wna16_backend = WNA16MoEBackend.MARLIN
    method.group_size, method.num_bits = 128, 4
    scales = {"w13_weight_scale": torch.ones(1), "w2_weight_scale": torch.ones(1)}
    config = method.get_fused_moe_quant_config(SimpleNamespace(**FACTORS, **scales))
    assert (config.a1_gscale, config.a2_gscale) == (0.5, 2.0)


def test_gptq() -> None:
    method = object.__new__(AutoGPTQMoEMethod)
    method.wna16_moe_backend = WNA16MoEBackend.MARLIN
    method.marlin_has_zp = False
    method.quant_config = AutoGPTQConfig(4, 128, False, True, False, {}, {})
    scales = {"w13_scales": torch.ones(1), "w2_scales": torch.ones(1)}
    config = method.get_fused_moe_quant_config(SimpleNamespace(**FACTORS, **scales))
    assert (config.a1_gscale, config.a2_gscale) == (0.5, 2.0)
    assert config.use_int4_w4a16
