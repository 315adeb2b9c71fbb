# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""AutoRound checkpoints tuned for int8 activations get them, without VLLM_MARLIN_INPUT_DTYPE."""

from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest

pytest.importorskip("vllm")

import torch
from vllm.model_executor.layers.fused_moe.oracle.int_wna16 import WNA16MoEBackend
from vllm.model_executor.layers.quantization.auto_gptq import AutoGPTQMoEMethod
from vllm.model_executor.layers.quantization.inc import inc
from vllm.model_executor.layers.quantization.inc.inc import INCConfig
from vllm.model_executor.layers.quantization.inc.schemes import inc_wna16_linear, inc_wna16_scheme
from vllm.platforms import current_platform

W4A8 = {"bits": 4, "group_size": 128, "sym": True, "act_bits": 8, "act_dynamic": True}
CASES = pytest.mark.parametrize(
    ("changed", "dtype"),
    [
        ({}, torch.int8),
        ({"act_data_type": "int"}, torch.int8),
        ({"act_bits": 16}, None),
        ({"act_dynamic": False}, None),
        ({"act_data_type": "fp8"}, None),
        ({"bits": 8}, None),
    ],
    ids=["w4a8", "named", "a16", "static", "fp8", "w8a8"],
)


@pytest.fixture(autouse=True)
def cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VLLM_MARLIN_INPUT_DTYPE", raising=False)
    monkeypatch.setattr(current_platform, "is_cpu", lambda: False)
    monkeypatch.setattr(current_platform, "is_cuda", lambda: True)
    monkeypatch.setattr(
        "vllm.model_executor.layers.quantization.auto_gptq.verify_marlin_supported",
        lambda **_: None,
    )
    monkeypatch.setattr(inc_wna16_linear, "check_marlin_supported", lambda *_, **__: True)


def layer_config(changed: dict[str, Any]) -> Any:
    """What the parser makes of a checkpoint's quantization_config for one layer."""
    config = INCConfig.from_config(W4A8 | changed)
    return config.config_parser.resolve(torch.nn.Module(), "model.layers.0.mlp.down_proj")


@CASES
def test_linear(changed: dict[str, Any], dtype: torch.dtype | None) -> None:
    scheme = inc_wna16_linear.INCWNA16LinearScheme(layer_config(changed), "model.layers.0.q_proj")
    assert scheme.linear_method.input_dtype == dtype


@CASES
def test_experts(
    monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any], dtype: torch.dtype | None
) -> None:
    config = layer_config(changed)
    method = object.__new__(AutoGPTQMoEMethod)
    method.quant_config = SimpleNamespace(quant_type=None)
    method.wna16_moe_backend = WNA16MoEBackend.MARLIN
    monkeypatch.setattr(inc_wna16_scheme, "_resolve_gptq_moe", lambda *_: method)
    resolved = inc_wna16_scheme.INCWna16Scheme().get_moe_method(
        None, torch.nn.Module(), "model.layers.0.mlp.experts", config
    )
    assert resolved.input_dtype == dtype


@pytest.mark.parametrize(("symmetric", "warned"), [(True, False), (False, True)])
def test_asymmetric_activations_are_warned_of(
    monkeypatch: pytest.MonkeyPatch, symmetric: bool, warned: bool
) -> None:
    logger = mock.Mock()
    monkeypatch.setattr(inc, "logger", logger)
    assert INCConfig.from_config(W4A8 | {"act_sym": symmetric}).act_int8
    assert logger.warning_once.called is warned
