# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""While the server benchmark measures one server, the processes of the others stand still."""

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

PATIENCE = 30.0  # seconds for what the kernel does by and by
# Starts a child that has the same output, and ends; the child goes on.
LEAVES_A_CHILD = f"""
import subprocess, sys
subprocess.Popen([{sys.executable!r}, "-c", "import signal; print(1, flush=True); signal.pause()"])
"""


def is_stopped(server: Any) -> bool:
    """Whether its process, a child of this one, is stopped."""
    options = os.WSTOPPED | os.WNOWAIT | os.WNOHANG
    return os.waitid(os.P_PID, server.process.pid, options) is not None


def stops(server: Any) -> bool:
    """Whether it is, or is by and by."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if is_stopped(server):
            return True
    return False


def test_others_are_stopped(
    serve: ModuleType,
    make_server: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    servers = [make_server(name) for name in ("bf16", "ternary")]
    seen = []

    def measure(server: Any, streams: list[int], _: int) -> list[dict[str, Any]]:
        assert all(stops(other) for other in servers if other is not server)
        assert not is_stopped(server)
        seen.append(server.weights)
        row = {"model": server.model, "weights": server.weights, "streams": 1}
        return [row | {"tok_s": 100.0, "ttft_ms": 20.0}]

    monkeypatch.setattr(serve, "measure", measure)
    args = argparse.Namespace(out=tmp_path / "s.json", streams=[1], turns=2, server_args="")
    assert serve.measure_all(servers, args, 2) == 2
    assert seen == ["bf16", "ternary", "ternary", "bf16"]

    serve.stop(servers)
    assert [server.process.poll() for server in servers] == [-15, -15]


def test_what_outlives_the_first_process_ends_too(
    serve: ModuleType, make_server: Callable[..., Any]
) -> None:
    server = make_server("ternary", LEAVES_A_CHILD)
    assert server.process.stdout.readline() == b"1\n"
    server.process.wait()

    serve.stop([server])
    # Ends with the last process that could write.
    assert server.process.communicate(timeout=PATIENCE) == (b"", None)
