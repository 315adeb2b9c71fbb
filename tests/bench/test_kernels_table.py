# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The table lists each point fastest first; speed-ups are over peers of the same activations."""

import kernel_table
from kernel_table import Row

SHAPE = (1000, 8000)


def row(name: str, m: int, us: float) -> Row:
    return kernel_table.make_row(kernel_table.select([name])[0], *SHAPE, m, us)


ROWS = [
    row("cublas_bf16", 1, 20.0),
    row("ternary/a16/channel", 1, 5.0),
    row("humming_w2a16", 1, 10.0),
    row("humming_w2a8", 1, 6.0),
    row("naive", 1, 2.0),
    row("ternary/a16/channel", 16, 8.0),
    row("ternary/int8/channel", 16, 4.0),
    row("marlin_w4a16", 16, 4.0),
]


def test_fastest_first_within_a_point() -> None:
    lines = kernel_table.table(ROWS[:4], tb_s=4.0, tflop_s=800.0).splitlines()
    assert [line.split()[2] for line in lines[1:]] == [
        "ternary",
        "humming_w2a8",
        "humming_w2a16",
        "cublas_bf16",
    ]


def test_share_of_the_floor() -> None:
    # 2 MB at 4 TB/s are 0.5 microseconds.
    line = kernel_table.table(ROWS[1:2], tb_s=4.0, tflop_s=800.0).splitlines()[1]
    assert line.split()[-1] == "10%"


def test_speedup_over_the_fastest_peer_of_the_same_activations() -> None:
    # Neither the stage (2.0) nor the peer with int8 activations (6.0) counts.
    assert kernel_table.speedups(ROWS, "a16", "channel") == {SHAPE: {1: 2.0, 16: 0.5}}


def test_no_speedup_without_a_peer() -> None:
    assert kernel_table.speedups(ROWS, "int8", "channel") == {}
