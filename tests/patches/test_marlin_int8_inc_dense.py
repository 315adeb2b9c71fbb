# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Dense AutoRound layers (the INC path) ask for int8 activations with their name."""

from types import SimpleNamespace

import pytest

pytest.importorskip("vllm")

import torch
from vllm.model_executor.layers.quantization.inc.schemes import inc_wna16_linear
from vllm.model_executor.layers.quantization.inc.schemes.inc_wna16_scheme import INCWna16Scheme
from vllm.platforms import current_platform


@pytest.mark.parametrize(
    ("packing", "name", "bits", "dtype"),
    [
        ("gptq", "model.layers.0.mlp.down_proj", 4, torch.int8),
        ("gptq", "model.layers.0.mlp.down_proj", 8, None),
        ("gptq", "lm_head", 4, None),
        ("awq", "model.layers.0.mlp.down_proj", 4, torch.int8),
        ("awq", "lm_head", 4, None),
    ],
)
def test_input_dtype(
    monkeypatch: pytest.MonkeyPatch,
    packing: str,
    name: str,
    bits: int,
    dtype: torch.dtype | None,
) -> None:
    monkeypatch.setenv("VLLM_MARLIN_INPUT_DTYPE", "int8")
    monkeypatch.setattr(current_platform, "is_cpu", lambda: False)
    for module in ("auto_gptq", "auto_awq"):
        monkeypatch.setattr(
            f"vllm.model_executor.layers.quantization.{module}.verify_marlin_supported",
            lambda **_: None,
        )
    monkeypatch.setattr(inc_wna16_linear, "check_marlin_supported", lambda *_, **__: True)
    config = SimpleNamespace(
        bits=bits,
        sym=packing == "gptq",
        group_size=128,
        backend="auto",
        is_gptq=packing == "gptq",
        is_awq=packing == "awq",
        act_int8=False,
    )
    method = INCWna16Scheme().get_linear_method(None, None, name, config)
    assert method.scheme.linear_method.input_dtype == dtype
