# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A server that starts too late, or fails, costs the server benchmark that server's rows alone."""

import argparse
import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


def rows_of(file: Path) -> list[str]:
    return [row["weights"] for row in json.loads(file.read_text())]


@pytest.fixture
def out(serve: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    def measure(server: Any, streams: list[int], servers: int) -> list[dict[str, Any]]:
        if server.weights == "failing":
            raise RuntimeError("HTTP 500: no")
        if server.weights == "ended":
            raise SystemExit(1)  # as SIGTERM does it
        row = {"model": server.model, "weights": server.weights, "streams": 1}
        return [row | {"tok_s": 100.0, "ttft_ms": 20.0}]

    monkeypatch.setattr(serve, "measure", measure)
    return tmp_path / "serve.json"


def arguments(out: Path) -> argparse.Namespace:
    return argparse.Namespace(out=out, streams=[1], turns=2, server_args="")


def test_rows_before_and_after_a_failing_server(
    serve: ModuleType,
    make_server: Callable[[str], Any],
    out: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    servers = [make_server(name) for name in ("bf16", "failing", "ternary")]
    assert serve.measure_all(servers, arguments(out), 3) == 2
    assert sorted(rows_of(out)) == ["bf16", "ternary"]
    assert capsys.readouterr().err.splitlines() == [
        f"the end of {servers[1].log}:",
        "the server's last words",
        "error: llama3-8b:failing: HTTP 500: no",
    ]


def test_rows_before_the_end(
    serve: ModuleType, make_server: Callable[[str], Any], out: Path
) -> None:
    servers = [make_server(name) for name in ("bf16", "ended", "ternary")]
    with pytest.raises(SystemExit):
        serve.measure_all(servers, arguments(out), 3)
    assert rows_of(out) == ["bf16"]


def test_late_server_is_ended(
    serve: ModuleType, make_server: Callable[[str], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    late = make_server("late")
    assert asyncio.run(serve.wait_all([late], 0.0)) == []
    assert late.process.poll() is not None
    assert (
        "error: llama3-8b:late: the server was not ready after 0 s (--start-limit)"
        in capsys.readouterr().err
    )
