# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A server that is measured in several turns gets their medians."""

import serve_table


def rows(*tok_s: float, ttft_ms: float) -> list[serve_table.Row]:
    return [
        {"model": "llama3-8b", "weights": "ternary", "streams": n, "tok_s": t, "ttft_ms": ttft_ms}
        for n, t in zip((1, 8), tok_s, strict=True)
    ]


def test_one_turn_is_as_it_is() -> None:
    assert serve_table.median_of_turns([rows(450, 3000, ttft_ms=50)]) == rows(450, 3000, ttft_ms=50)


def test_medians() -> None:
    turns = [
        rows(450, 3000, ttft_ms=50),
        rows(350, 3600, ttft_ms=53),
        rows(550, 3300, ttft_ms=49),
    ]
    one, eight = rows(450, 3300, ttft_ms=50)
    assert serve_table.median_of_turns(turns) == [
        one | {"turns": [450, 350, 550]},
        eight | {"turns": [3000, 3600, 3300]},
    ]
