# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Negating a group's codes loses nothing, -8 included, and leaves the other groups alone."""

import pytest

pytest.importorskip("vllm")

import torch
from marlin_emulation import pack_rows, unpack_rows
from vllm.model_executor.layers.quantization.utils import marlin_utils


def test_every_code_and_zero_point_is_negated_exactly() -> None:
    codes = torch.arange(16, dtype=torch.int32).repeat(2, 2)  # [N = 2, K = 32], one group each
    negative = torch.tensor([[True, False]])  # [G = 1, N = 2]
    packed = pack_rows(codes).t().contiguous()  # GPTQ layout, [K / 8, N]
    negated = unpack_rows(marlin_utils.marlin_negate_int4(packed, negative).t())
    assert torch.equal(negated[1], codes[1])
    for zero in range(16):
        assert torch.equal(negated[0] - (15 - zero), -(codes[0] - zero))
