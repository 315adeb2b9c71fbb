# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Rows of a server become one line, whatever was not measured left open."""

import serve_table


def row(weights: str, streams: int, tok_s: float, gib: float | None) -> serve_table.Row:
    return {
        "model": "llama3-8b",
        "weights": weights,
        "streams": streams,
        "tok_s": tok_s,
        "ttft_ms": 51.7,
        "weight_gib": gib,
        "start_s": 101.4,
        "servers": 2,
    }


def test_how_much_better_than_each_other_kind() -> None:
    rows = [
        row("ternary", 1, 500.0, 3.6),
        row("gptq-int4", 1, 400.0, 5.3),
        row("ternary-int8", 1, 600.0, 3.6) | {"model": "another"},
    ]
    rows[1] |= {"ttft_ms": 103.4, "start_s": 50.7}
    assert serve_table.ratios(rows).splitlines() == [
        "| model | weights | over | 1 stream | first token, 2048 in | start |",
        "| --- | --- | --- | --- | --- | --- |",
        "| llama3-8b | ternary | gptq-int4 | 1.25 | 2.00 | 0.50 |",
    ]


def test_a_line_a_server() -> None:
    rows = [
        row("bf16", 1, 203.4, 14.96),
        row("bf16", 64, 11602.0, 14.96),
        row("ternary", 1, 500.6, None),
    ]
    assert serve_table.table(rows).splitlines() == [
        "| model | weights | on the GPU | 1 stream | 64 streams | first token, 2048 in | start |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        "| llama3-8b | bf16 | 14.96 GiB | 203 tok/s | 11,602 tok/s | 52 ms | 101 s |",
        "| llama3-8b | ternary | - | 501 tok/s | - | 52 ms | 101 s |",
    ]
