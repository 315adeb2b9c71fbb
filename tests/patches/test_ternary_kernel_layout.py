# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The packed layout is the documented one, filled up with weights 0."""

import pytest
import torch
from ternary_ops import OPS, needs_gpu

pytestmark = [pytest.mark.gpu, needs_gpu]


def unpack(packed: torch.Tensor, n: int, k: int) -> torch.Tensor:
    """Codes [n padded, k padded] by the layout as it is written down."""
    rows, cols = -(-n // 16) * 16, -(-k // 128) * 128
    row = torch.arange(rows).view(-1, 1)
    col = torch.arange(cols).view(1, -1)
    p, i, j = col // 32 % 4, col // 16 % 2, col // 8 % 2
    t, h = col // 2 % 4, col % 2
    unit = row // 16 * (cols // 128) + col // 128
    word = unit * 128 + (row % 8 * 4 + t) * 4 + row // 8 % 2 + 2 * j
    code = (packed.cpu().flatten().long()[word] >> (16 * h + 8 * i + 2 * p)) & 3
    assert (code != 0).all()
    return code - 2


@pytest.mark.parametrize("shape", [(16, 128), (1, 1), (33, 200), (100, 1000)])
def test_layout(shape: tuple[int, int]) -> None:
    n, k = shape
    codes = torch.randint(-1, 2, shape, dtype=torch.int8)
    packed = OPS.ternary_pack(codes.cuda())
    assert packed.dtype == torch.int32
    assert packed.shape == (-(-n // 16), -(-k // 128) * 128)
    unpacked = unpack(packed, n, k)
    assert torch.equal(unpacked[:n, :k], codes.long())
    assert not unpacked[n:].any()
    assert not unpacked[:, k:].any()


@pytest.mark.parametrize("value", [-128, -2, 2, 127])
def test_a_value_that_is_no_code_is_named(value: int) -> None:
    codes = torch.zeros(40, 300, dtype=torch.int8, device="cuda")
    codes[12, 34] = value
    codes[39, 299] = value
    with pytest.raises(RuntimeError, match=rf"weight\[12, 34\] is {value}, not -1, 0 or 1"):
        OPS.ternary_pack(codes)
