# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What bench/first_token.py makes of the kernels of a prompt."""

import first_token

# Begin and end in milliseconds: the second runs beside the first, the last behind a gap.
KERNELS = [(1.0, 3.0, "product"), (2.0, 4.0, "norm"), (2.5, 2.75, "norm"), (9.0, 10.5, "product")]


def test_kernels_side_by_side_count_once() -> None:
    assert first_token.busy_ms(KERNELS) == 4.5


def test_the_longest_come_first() -> None:
    assert first_token.longest(KERNELS) == [("product", 2, 3.5), ("norm", 2, 2.25)]
