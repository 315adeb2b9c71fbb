# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The zero-point kernel is taken where a negative group scale exists, and only there."""

import pytest

pytest.importorskip("vllm")

import torch
from marlin_emulation import Checkpoint, checkpoint, emulate, relative_error
from vllm.scalar_type import scalar_types


def test_zero_point_kernel_only_with_a_negative_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = emulate(monkeypatch)
    positive = checkpoint(128, 512, 4)
    one_negative = Checkpoint(positive.codes, positive.scales.clone())
    one_negative.scales[77, 2] *= -1
    relative_error(positive, torch.int8)
    relative_error(one_negative, torch.int8)
    relative_error(one_negative, torch.bfloat16)
    types = [call["type_id"] for call in calls]
    symmetric, zero_point = scalar_types.uint4b8.id, scalar_types.uint4.id
    assert types == [symmetric, zero_point, symmetric]
    assert [call["zeros"].numel() for call in calls] == [0, 4 * 128 // 8, 0]
