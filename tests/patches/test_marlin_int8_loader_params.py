# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The loader's parameters stay as they are when the transforms are handed copies (0.33.0)."""

import pytest

pytest.importorskip("vllm")

import torch
from marlin_emulation import checkpoint, emulate, kernel, kernel_integers, load
from vllm.model_executor.kernels.linear.mixed_precision.MPLinearKernel import MPLinearKernel


def shallow_copy(param: torch.Tensor) -> torch.Tensor:
    copy = torch.Tensor._make_subclass(type(param), param.data, param.requires_grad)
    copy.__dict__.update(param.__dict__)
    return copy


def transform_param(self, layer, name, fn):  # type: ignore[no-untyped-def]
    param = getattr(layer, name)
    setattr(layer, name, torch.nn.Parameter(fn(shallow_copy(param)).data, requires_grad=False))


@pytest.mark.parametrize("asymmetric", [False, True])
def test_kept_loader_params_are_not_touched(
    monkeypatch: pytest.MonkeyPatch, asymmetric: bool
) -> None:
    emulate(monkeypatch)
    monkeypatch.setattr(MPLinearKernel, "_transform_param", transform_param)
    c = checkpoint(128, 512, 4, negative=0.5, asymmetric=asymmetric)
    layer = load(c)
    kept = dict(layer.named_parameters())
    before = {name: (p.input_dim, p.output_dim, p.data.clone()) for name, p in kept.items()}
    kernel(c, torch.int8).process_weights_after_loading(layer)
    for name, p in kept.items():
        assert (p.input_dim, p.output_dim) == before[name][:2]
        assert torch.equal(p.data, before[name][2])
    integers = kernel_integers(layer.weight_packed, layer.weight_zero_point, 4, True)
    sign = c.scales.sign().int().repeat_interleave(c.group_size, 1)
    assert torch.equal(integers, (c.integers() * sign).t().long())
