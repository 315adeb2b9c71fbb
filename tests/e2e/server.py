# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Start `vllm serve` on a CPU, ask it over HTTP, stop it."""

import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

START_SECONDS = 300
STOP_SECONDS = 30
POLL_SECONDS = 0.2

ENVIRONMENT = {
    "VLLM_TARGET_DEVICE": "cpu",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "HF_HUB_OFFLINE": "1",
    # Bound threads spin where other processes have the cores: ten times slower on tiny models.
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "OMP_NUM_THREADS": "1",
}


@dataclass
class Server:
    """A server that answers on 127.0.0.1."""

    port: int
    log: Path

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        with self._open(path, body) as response:
            return json.load(response)

    def stream(self, path: str, body: dict[str, Any]) -> list[dict[str, Any]]:
        """The events of a streamed answer, which must end with [DONE]."""
        with self._open(path, body | {"stream": True}) as response:
            lines = [line.decode().strip() for line in response]
        events = [line.removeprefix("data: ") for line in lines if line]
        assert events.pop() == "[DONE]"
        return [json.loads(event) for event in events]

    def _open(self, path: str, body: dict[str, Any]) -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        return urllib.request.urlopen(request, timeout=120)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def start(
    python: Path, model: Path, port: int, log: Path, *options: str, **environment: str
) -> subprocess.Popen[bytes]:
    """Start a server in a session of its own, its output going to `log`."""
    command = [str(python.parent / "vllm"), "serve", str(model), "--host", "127.0.0.1"]
    command += ["--port", str(port), "--dtype", "bfloat16", "--max-model-len", "256"]
    command += ["--max-num-seqs", "4", "--served-model-name", "model", *options]
    with log.open("wb") as output:
        return subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=os.environ | ENVIRONMENT | environment,
            start_new_session=True,
        )


def is_ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as response:
            return response.status == 200
    except (urllib.error.URLError, OSError):
        return False


def stop(process: subprocess.Popen[bytes]) -> None:
    """Ask a server to end; end it and the workers of its session if it does not."""
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def tail(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-40:])


@contextmanager
def serve(
    python: Path, model: Path, log: Path, *options: str, **environment: str
) -> Iterator[Server]:
    """A server that is ready."""
    port = free_port()
    process = start(python, model, port, log, *options, **environment)
    try:
        deadline = time.monotonic() + START_SECONDS
        while not is_ready(port):
            assert process.poll() is None, f"the server ended:\n{tail(log)}"
            assert time.monotonic() < deadline, f"the server is not ready:\n{tail(log)}"
            time.sleep(POLL_SECONDS)
        yield Server(port, log)
    finally:
        stop(process)


def serve_and_fail(
    python: Path, model: Path, log: Path, *options: str, **environment: str
) -> tuple[int, str]:
    """Exit code and output of a server that must not start."""
    process = start(python, model, free_port(), log, *options, **environment)
    try:
        return process.wait(START_SECONDS), log.read_text(errors="replace")
    finally:
        stop(process)
