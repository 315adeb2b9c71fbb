# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A server that starts too late, or fails, costs the server benchmark that server's rows alone."""

import asyncio
import importlib.util
import json
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

BENCH = Path(__file__).parents[2] / "bench"
SILENT = "import signal; signal.pause()"


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    for name in ("checkpoints", "serve_table", "serve"):
        spec = importlib.util.spec_from_file_location(name, BENCH / f"{name}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
    return module


def make_server(serve: ModuleType, folder: Path, weights: str, process: Any = None) -> Any:
    log = folder / f"{weights}.log"
    log.write_text("the server's last words\n")
    url = "http://127.0.0.1:1"  # where nobody listens
    return serve.Server("llama3-8b", weights, 100, log, url, process, time.monotonic())


def rows_of(file: Path) -> list[str]:
    return [row["weights"] for row in json.loads(file.read_text())]


@pytest.fixture
def out(serve: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    def measure(server: Any, streams: list[int], servers: int) -> list[dict[str, Any]]:
        if server.weights == "failing":
            raise RuntimeError("HTTP 500: no")
        if server.weights == "ended":
            raise SystemExit(1)  # as SIGTERM does it
        return [{"model": server.model, "weights": server.weights, "streams": 1}]

    monkeypatch.setattr(serve, "measure", measure)
    return tmp_path / "serve.json"


def measure_all(serve: ModuleType, out: Path, *weights: str) -> int:
    servers = [make_server(serve, out.parent, name) for name in weights]
    measured: int = serve.measure_all(servers, [1], len(servers), out)
    return measured


def test_rows_before_and_after_a_failing_server(
    serve: ModuleType, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert measure_all(serve, out, "bf16", "failing", "ternary") == 2
    assert rows_of(out) == ["bf16", "ternary"]
    assert capsys.readouterr().err.splitlines() == [
        "the server's last words",
        "error: llama3-8b:failing: HTTP 500: no",
    ]


def test_rows_before_the_end(serve: ModuleType, out: Path) -> None:
    with pytest.raises(SystemExit):
        measure_all(serve, out, "bf16", "ended", "ternary")
    assert rows_of(out) == ["bf16"]


def test_late_server_is_ended(
    serve: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    process = subprocess.Popen([sys.executable, "-c", SILENT], start_new_session=True)
    late = make_server(serve, tmp_path, "late", process)
    try:
        assert asyncio.run(serve.wait_all([late], 0.0)) == []
        assert process.poll() is not None
    finally:
        process.kill()
    assert "error: llama3-8b:late: the server was not ready after 0 s" in capsys.readouterr().err
