# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Negative group scales give right results with int8 activations, and exact integers."""

import pytest

pytest.importorskip("vllm")

import torch
from marlin_emulation import (
    INT8_LIMIT,
    checkpoint,
    emulate,
    kernel,
    kernel_integers,
    load,
    relative_error,
)

CASES = pytest.mark.parametrize(
    ("negative", "asymmetric"),
    [(0.5, False), (1.0, False), (0.5, True), (1.0, True)],
    ids=["half", "all", "half-asymmetric", "all-asymmetric"],
)


@CASES
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_matches_float64(
    monkeypatch: pytest.MonkeyPatch, negative: float, asymmetric: bool, dtype: torch.dtype
) -> None:
    emulate(monkeypatch)
    c = checkpoint(128, 512, 8, negative=negative, asymmetric=asymmetric, dtype=dtype)
    assert relative_error(c, torch.int8) <= INT8_LIMIT


@CASES
def test_kernel_multiplies_the_checkpoints_integers(
    monkeypatch: pytest.MonkeyPatch, negative: float, asymmetric: bool
) -> None:
    """Sign and integer together are the checkpoint's; no code is clamped."""
    emulate(monkeypatch)
    c = checkpoint(128, 512, 4, negative=negative, asymmetric=asymmetric)
    layer = load(c)
    kernel(c, torch.int8).process_weights_after_loading(layer)
    integers = kernel_integers(layer.weight_packed, layer.weight_zero_point, 4, True)
    sign = c.scales.sign().int().repeat_interleave(c.group_size, 1)
    assert torch.equal(integers, (c.integers() * sign).t().long())
    assert (layer.weight_scale.view(torch.int16) >= 0).all()


def test_shape_that_needs_tile_padding(monkeypatch: pytest.MonkeyPatch) -> None:
    emulate(monkeypatch)
    c = checkpoint(72, 96, 3, negative=0.5)
    assert relative_error(c, torch.int8) <= INT8_LIMIT
