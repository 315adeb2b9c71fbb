# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Group scales are requantized to int16 within half a step, and zeros stay zeros."""

import pytest

pytest.importorskip("vllm")

import torch
from marlin_emulation import Checkpoint, checkpoint, emulate, kernel, load
from vllm.model_executor.layers.quantization.utils.marlin_utils import (
    marlin_act_int8_process_scales,
)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_each_scale_is_within_half_a_step(dtype: torch.dtype) -> None:
    """A ratio rounded to bf16 would be off by up to 8 steps."""
    scales = torch.linspace(0.001, 0.0173, 4096).to(dtype)
    quantized, step = marlin_act_int8_process_scales(scales.clone())
    assert quantized.dtype == dtype
    restored = quantized.view(torch.int16).double() * step.double()
    assert (restored - scales.double()).abs().max() <= step.double() * 0.501


def test_all_zero_scales_give_zeros(monkeypatch: pytest.MonkeyPatch) -> None:
    emulate(monkeypatch)
    c = checkpoint(128, 512, 4)
    zero = Checkpoint(c.codes, torch.zeros_like(c.scales))
    layer = load(zero)
    k = kernel(zero, torch.int8)
    k.process_weights_after_loading(layer)
    x = torch.randn(4, 512).to(torch.bfloat16)
    assert torch.equal(k.apply_weights(layer, x), torch.zeros(4, 128, dtype=torch.bfloat16))
