# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The table of the dispatch: what ships, and what could run instead, bold where faster."""

import dispatch_table
from kernel_table import Row


def row(way: str, m: int, us: float, activation: str = "a16") -> Row:
    key = {"n": 1000, "k": 8000, "m": m, "activation": activation, "scale": "channel"}
    return key | {"way": way, "us": us}


ROWS = [
    row("unpack", 0, 6.0),
    row("ternary", 8, 5.0),
    row("ternary", 16, 9.0),
    row("ternary", 17, 8.0),
    row("decode_pieces", 17, 12.0),
    row("ternary", 32, 8.5),
    row("decode_pieces", 32, 8.4),
    row("ternary", 4096, 123.4),
    row("unpack_cublas", 4096, 150.0),
    row("unpack_cublaslt", 4096, 120.0),
]


def test_within_decode_the_kernel_beyond_the_border() -> None:
    assert dispatch_table.instead(ROWS, 8) == 8.0
    assert dispatch_table.instead(ROWS, 16) == 8.0


def test_beyond_the_border_decode_in_pieces() -> None:
    assert dispatch_table.instead(ROWS, 17) == 12.0


def test_of_two_libraries_the_faster() -> None:
    assert dispatch_table.instead(ROWS, 4096) == 120.0


def test_nothing_instead() -> None:
    assert dispatch_table.instead([row("ternary", 8, 5.0), row("ternary", 256, 9.0)], 8) is None
    assert dispatch_table.instead([row("ternary", 8, 5.0), row("ternary", 256, 9.0)], 256) is None


def test_faster_ones_are_bold_and_counted() -> None:
    rows = [*ROWS, row("ternary", 4096, 70.0, "int8")]
    assert dispatch_table.table(rows).splitlines() == [
        "| N x K | activations | scales | 8 tokens | 16 tokens | 17 tokens | 32 tokens "
        "| 4096 tokens | unpacking, us, TB/s |",
        "|---|---|---|---|---|---|---|---|---|",
        # Unpacking reads 2 MB of codes and writes 16 MB.
        "| 1000x8000 | a16 | channel | 5.0 / 8.0 | 9.0 / **8.0** | 8.0 / 12.0 | 8.5 / **8.4** "
        "| 123 / **120** | 6.0, 3.00 |",
        "| 1000x8000 | int8 | channel | - / - | - / - | - / - | - / - | 70.0 / - | - |",
        "",
        "What ships is the fastest at 2 of 5 points",
    ]


def test_int8_weights_are_a_byte() -> None:
    line = dispatch_table.table([row("unpack", 0, 5.0, "int8")]).splitlines()[2]
    assert line.endswith("| 5.0, 2.00 |")
