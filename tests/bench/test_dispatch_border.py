# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The border around which the benchmark measures is the one at which the kernel dispatches."""

import re
from pathlib import Path

import dispatch_table

PATCHES = Path(__file__).parents[2] / "patches"


def test_decode_takes_as_many_tokens() -> None:
    (patch,) = PATCHES.glob("*-ternary-kernel.patch")
    assert re.findall(r"^\+constexpr int kDecodeMaxTokens = (\d+);", patch.read_text(), re.M) == [
        str(dispatch_table.DECODE)
    ]
