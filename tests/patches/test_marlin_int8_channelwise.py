# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Channelwise int4 layers run with int8 activations, whatever the sign of their scales."""

import pytest

pytest.importorskip("vllm")

import torch
from marlin_emulation import INT8_LIMIT, checkpoint, emulate, relative_error
from vllm.scalar_type import scalar_types


@pytest.mark.parametrize("negative", [0.0, 0.5])
@pytest.mark.parametrize("asymmetric", [False, True])
def test_channelwise_matches_float64(
    monkeypatch: pytest.MonkeyPatch, negative: float, asymmetric: bool
) -> None:
    """One group keeps float scales: the sign needs no zero points."""
    calls = emulate(monkeypatch)
    c = checkpoint(128, 512, 1, negative=negative, asymmetric=asymmetric)
    assert relative_error(c, torch.int8) <= INT8_LIMIT
    expected = scalar_types.uint4 if asymmetric else scalar_types.uint4b8
    assert [call["type_id"] for call in calls] == [expected.id]
