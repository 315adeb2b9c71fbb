# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What the packing benchmark's kernels read out of the packed bytes is the codes, in place."""

from collections.abc import Callable
from itertools import pairwise
from types import ModuleType

import pytest
import torch


@pytest.fixture
def packing(bench: Callable[[str], ModuleType]) -> ModuleType:
    return bench("packing")


def digits(byte: torch.Tensor, per_byte: int) -> list[torch.Tensor]:
    """The codes of a byte, first one first, by the arithmetic of bench/kernels/packing.cu."""
    if per_byte == 4:
        return [byte >> 2 * j & 3 for j in range(4)]
    prefixes = [byte * 3 ** (j + 1) >> 8 for j in range(5)]
    return [prefixes[0], *(p - 3 * q for q, p in pairwise(prefixes))]


@pytest.mark.parametrize("per_byte", [4, 5])
def test_codes_come_back(packing: ModuleType, per_byte: int) -> None:
    n, k = 32, 64 * per_byte
    generator = torch.Generator().manual_seed(0)
    codes = torch.randint(0, 3, (n, k), dtype=torch.int8, generator=generator)
    packed = packing.pack(codes, per_byte)
    assert packed.numel() * per_byte == n * k
    found = torch.full((n, k), -1, dtype=torch.int)
    for tile, unit, lane, word, byte in torch.cartesian_prod(*map(torch.arange, packed.shape)):
        row = tile * 16 + lane // 4 + 8 * (word & 1)
        for j, code in enumerate(digits(packed[tile, unit, lane, word, byte].int(), per_byte)):
            column = unit * 32 * per_byte + 32 * j + lane % 4 * 4 + byte + 16 * (word >> 1)
            found[row, column] = code
    assert torch.equal(found, codes.int())


def test_every_five_codes_fit_a_byte(packing: ModuleType) -> None:
    numbers = torch.arange(243)
    bytes_ = (numbers * 256 + 242) // 243
    assert bytes_.max() <= 255
    for j, code in enumerate(digits(bytes_, 5)):
        assert torch.equal(code, numbers // 3 ** (4 - j) % 3)
