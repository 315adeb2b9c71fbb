# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A server's rows go into the file beside those of others, in place of its own older ones."""

import json
from pathlib import Path

import serve_table


def row(weights: str, streams: int, tok_s: float) -> serve_table.Row:
    return {"model": "llama3-8b", "weights": weights, "streams": streams, "tok_s": tok_s}


def test_first_rows_make_the_file(tmp_path: Path) -> None:
    out = tmp_path / "serve.json"
    rows = [row("bf16", 1, 200.0)]
    assert serve_table.keep(out, rows) == rows
    assert json.loads(out.read_text()) == rows
    assert list(tmp_path.iterdir()) == [out]


def test_others_stay_and_older_ones_go(tmp_path: Path) -> None:
    out = tmp_path / "serve.json"
    other = row("bf16", 1, 200.0) | {"model": "qwen2-1.5b"}
    serve_table.keep(out, [row("bf16", 1, 200.0), row("bf16", 8, 1600.0), other])
    serve_table.keep(out, [row("ternary", 1, 450.0)])

    rows = serve_table.keep(out, [row("bf16", 1, 210.0)])
    assert rows == [other, row("ternary", 1, 450.0), row("bf16", 1, 210.0)]
    assert json.loads(out.read_text()) == rows


def test_other_arguments_are_another_server(tmp_path: Path) -> None:
    out = tmp_path / "serve.json"
    plain, eager = row("ternary", 1, 450.0), row("ternary", 1, 90.0)
    eager["server_args"] = "--enforce-eager"
    serve_table.keep(out, [plain])
    assert serve_table.keep(out, [eager]) == [plain, eager]
    assert [name for _, name in serve_table.by_server([plain, eager])] == [
        "ternary",
        "ternary --enforce-eager",
    ]
