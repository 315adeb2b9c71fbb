# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Beyond decode's border tokens are cut into calls that decode takes."""

import dispatch_table
import pytest


@pytest.mark.parametrize(
    ("m", "parts"), [(1, [1]), (16, [16]), (17, [16, 1]), (24, [16, 8]), (32, [16, 16])]
)
def test_full_pieces_first(m: int, parts: list[int]) -> None:
    assert dispatch_table.pieces(m) == parts
