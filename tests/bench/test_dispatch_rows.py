# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A row of the dispatch benchmark a shape, number of tokens, kind and way, in the file's order."""

import json
from pathlib import Path

import dispatch
import pytest
from timed_kernels import Timed

KINDS = [(a, s) for s in ("channel", "group128") for a in ("a16", "int8")]
# As the stand-in for the ways has them.
POINTS = [(0, ["unpack"]), (8, ["ternary"]), (17, ["ternary"]), (256, ["ternary", "unpack_cublas"])]


def run(folder: Path) -> list[dict[str, object]]:
    arguments = ["--out", str(folder / "d.json"), "--shapes", "28672x4096", "4096x14336"]
    assert dispatch.main(arguments) == 0
    rows: list[dict[str, object]] = json.loads((folder / "d.json").read_text())
    return rows


def test_order(timed: Timed, tmp_path: Path) -> None:
    rows = run(tmp_path)
    assert [tuple(row.values())[:-1] for row in rows] == [
        (n, k, m, *kind, way)
        for n, k in ((28672, 4096), (4096, 14336))
        for m, ways in POINTS
        for kind in KINDS
        for way in ways
    ]
    assert list(rows[0]) == ["n", "k", "m", "activation", "scale", "way", "us"]


def test_both_orders(timed: Timed, tmp_path: Path) -> None:
    rows = run(tmp_path)
    both = [(28672, 256, way) for way in ["ternary", "unpack_cublas"] * 4]
    assert [point for point in timed.order if point[:2] == (28672, 256)] == both + both[::-1]
    assert len({row["us"] for row in rows if (row["n"], row["m"]) == (28672, 256)}) == 1


def test_the_table_is_printed(
    timed: Timed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(tmp_path)
    assert "| 4096x14336 | int8 | group128 |" in capsys.readouterr().out
