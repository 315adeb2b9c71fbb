# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""int4 weights with zero points run with int8 activations."""

import pytest

pytest.importorskip("vllm")

import torch
from marlin_emulation import INT8_LIMIT, checkpoint, emulate, kernel, load, relative_error
from vllm.scalar_type import scalar_types


@pytest.mark.parametrize("group_size", [32, 64, 128])
def test_asymmetric_layer_matches_float64(monkeypatch: pytest.MonkeyPatch, group_size: int) -> None:
    calls = emulate(monkeypatch)
    c = checkpoint(128, 512, 512 // group_size, asymmetric=True)
    assert relative_error(c, torch.int8) <= INT8_LIMIT
    assert [call["type_id"] for call in calls] == [scalar_types.uint4.id]


def test_fp8_activations_still_refuse_zero_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """The FP8 preprocessing would ignore the zero points and give wrong results."""
    emulate(monkeypatch)
    c = checkpoint(128, 512, 4, asymmetric=True)
    with pytest.raises(AssertionError, match="Only symmetric int4 weights"):
        kernel(c, torch.float8_e4m3fn).process_weights_after_loading(load(c))
