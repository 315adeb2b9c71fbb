# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""8-bit layers keep 16-bit activations, and a warning names them."""

from unittest import mock

import pytest

pytest.importorskip("vllm")

import torch
from marlin_schemes import compressed_tensors_act_type
from vllm.model_executor.layers.linear import LinearBase
from vllm.model_executor.layers.quantization.auto_gptq import AutoGPTQConfig
from vllm.model_executor.layers.quantization.utils import marlin_utils

NAME = "model.layers.0.mlp.down_proj"


@pytest.fixture(autouse=True)
def int8(monkeypatch: pytest.MonkeyPatch) -> mock.Mock:
    monkeypatch.setenv("VLLM_MARLIN_INPUT_DTYPE", "int8")
    warning = mock.Mock()
    monkeypatch.setattr(marlin_utils.logger, "warning", warning)
    return warning


def warned(warning: mock.Mock) -> str:
    (call,) = warning.call_args_list
    return str(call.args[0] % call.args[1:])


def test_compressed_tensors(monkeypatch: pytest.MonkeyPatch, int8: mock.Mock) -> None:
    assert compressed_tensors_act_type(monkeypatch, NAME, 8) == torch.bfloat16
    assert f"layer '{NAME}' keeps 16-bit activations" in warned(int8)


def test_gptq(monkeypatch: pytest.MonkeyPatch, int8: mock.Mock) -> None:
    monkeypatch.setattr(
        "vllm.model_executor.layers.quantization.auto_gptq.verify_marlin_supported",
        lambda **_: None,
    )
    layer = LinearBase.__new__(LinearBase)
    torch.nn.Module.__init__(layer)
    config = AutoGPTQConfig(
        weight_bits=8,
        group_size=128,
        desc_act=False,
        is_sym=True,
        lm_head_quantized=False,
        dynamic={},
        full_config={},
    )
    assert config.get_quant_method(layer, NAME).input_dtype is None
    assert f"layer '{NAME}' keeps 16-bit activations" in warned(int8)
