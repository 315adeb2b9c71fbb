# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The dense compressed-tensors, GPTQ and AWQ paths ask with the layer's name."""

from types import SimpleNamespace

import pytest

pytest.importorskip("vllm")

import torch
from marlin_schemes import compressed_tensors_act_type
from vllm.model_executor.layers.linear import LinearBase
from vllm.model_executor.layers.quantization import auto_awq
from vllm.model_executor.layers.quantization.auto_awq import AutoAWQConfig
from vllm.model_executor.layers.quantization.auto_gptq import AutoGPTQConfig
from vllm.model_executor.layers.vocab_parallel_embedding import ParallelLMHead

LAYER, HEAD = "model.layers.0.mlp.down_proj", "lm_head"


@pytest.fixture(autouse=True)
def int8_but_for_the_head(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_MARLIN_INPUT_DTYPE", "int8")
    monkeypatch.setenv("VLLM_MARLIN_INT8_EXCLUDE_RE", "lm_head")


def layer_of(name: str) -> torch.nn.Module:
    """An uninitialized linear layer or LM head: the methods look at its type and sizes only."""
    cls = ParallelLMHead if name == HEAD else LinearBase
    layer = cls.__new__(cls)
    torch.nn.Module.__init__(layer)
    layer.input_size = layer.output_size = 1024
    return layer


@pytest.mark.parametrize(("name", "dtype"), [(LAYER, torch.int8), (HEAD, torch.bfloat16)])
def test_compressed_tensors(monkeypatch: pytest.MonkeyPatch, name: str, dtype: torch.dtype) -> None:
    assert compressed_tensors_act_type(monkeypatch, name, 4) == dtype


@pytest.mark.parametrize(("name", "dtype"), [(LAYER, torch.int8), (HEAD, None)])
def test_gptq(name: str, dtype: torch.dtype | None) -> None:
    config = AutoGPTQConfig(
        weight_bits=4,
        group_size=128,
        desc_act=False,
        is_sym=True,
        lm_head_quantized=True,
        dynamic={},
        full_config={},
    )
    assert config.get_quant_method(layer_of(name), name).input_dtype == dtype


@pytest.mark.parametrize(("name", "dtype"), [(LAYER, torch.int8), (HEAD, None)])
def test_awq(monkeypatch: pytest.MonkeyPatch, name: str, dtype: torch.dtype | None) -> None:
    cuda = SimpleNamespace(is_cpu=lambda: False, is_xpu=lambda: False, is_cuda=lambda: True)
    monkeypatch.setattr(auto_awq, "current_platform", cuda)
    config = AutoAWQConfig(
        weight_bits=4,
        group_size=128,
        zero_point=True,
        lm_head_quantized=True,
        modules_to_not_convert=[],
        full_config={},
    )
    assert config.get_quant_method(layer_of(name), name).input_dtype == dtype
