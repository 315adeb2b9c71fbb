# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Few tokens are timed first, for all shapes, and with all kernels before the next number of them.

A kernel's choices are made for all numbers of tokens.
"""

import json
from pathlib import Path

import kernels
from timed_kernels import Timed

TOKENS = [1, 64, 128, 256, 512]
PEERS = ["cublas_bf16", "humming_w2a16"]


def test_few_tokens_first(timed: Timed, tmp_path: Path) -> None:
    arguments = ["--out", str(tmp_path / "k.json"), "--shapes", "28672x4096", "4096x14336"]
    arguments += ["--m", *map(str, TOKENS), "--kernels", *PEERS]

    assert kernels.main(arguments) == 0

    shapes, both_orders = [28672, 4096], [*PEERS, *reversed(PEERS)]
    parts = ((1, 64), (128, 256), (512,))
    assert timed.order == [
        (n, m, p) for part in parts for n in shapes for m in part for p in both_orders
    ]
    assert {tuple(tokens) for _, _, tokens in timed.built} == {tuple(TOKENS)}
    rows = json.loads((tmp_path / "k.json").read_text())
    assert [(row["n"], row["m"], row["kernel"]) for row in rows] == [
        (n, m, p) for n in shapes for m in TOKENS for p in PEERS
    ]
    # Measurements 1 to 4 of the first point, of which the inner ones are the second kernel's.
    assert [row["us"] for row in rows[:2]] == [2.5, 2.5]
