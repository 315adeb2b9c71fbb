# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A layer of one group that tile padding turns into two is treated as grouped."""

import pytest

pytest.importorskip("vllm")

import torch
from marlin_emulation import INT8_LIMIT, checkpoint, emulate, relative_error


def test_one_group_padded_to_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """64 x 64 is padded to K = 128: the kernel sees two groups of 64 and wants int16 scales."""
    emulate(monkeypatch)
    c = checkpoint(64, 64, 1, negative=0.5)
    assert relative_error(c, torch.int8, group_size=64) <= INT8_LIMIT
