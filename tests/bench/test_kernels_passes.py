# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Few tokens are timed first, for all shapes, and with all kernels before the next number of them.

A kernel's choices are made for all numbers of tokens.
"""

import json
from pathlib import Path

import kernels
import pytest


def test_few_tokens_first(
    timed: list[tuple[int, int, str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--out", str(tmp_path / "k.json"), "--shapes", "28672x4096", "4096x14336"]
    arguments += ["--m", "1", "64", "128", "256", "512"]
    arguments += ["--kernels", "cublas_bf16", "humming_w2a16", "humming_w2a8"]

    assert kernels.main(arguments) == 0

    peers, shapes = ["cublas_bf16", "humming_w2a16"], [28672, 4096]
    parts = ((1, 64), (128, 256), (512,))
    assert timed == [(n, m, p) for part in parts for n in shapes for m in part for p in peers]
    rows = json.loads((tmp_path / "k.json").read_text())
    assert [(row["n"], row["m"], row["kernel"]) for row in rows] == [
        (n, m, p) for n in shapes for m in (1, 64, 128, 256, 512) for p in peers
    ]
    assert (
        capsys.readouterr().out.count("left out: humming_w2a8/int8/channel: no such package") == 1
    )
