# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The tools are scripts: loaded from their files, or run as a user runs them."""

import importlib
import importlib.util
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

INSPECT = Path(__file__).parents[2] / "tools" / "inspect_w4a8.py"
BENCH = Path(__file__).parents[2] / "bench"
SILENT = "import signal; signal.pause()"


def load(script: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A script as a module, which others find by its name while the test runs."""
    spec = importlib.util.spec_from_file_location(script.stem, script)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, script.stem, module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def inspect_w4a8(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    for variable in ("VLLM_MARLIN_INT8_EXCLUDE_RE", "VLLM_MARLIN_INT8_INCLUDE_RE"):
        monkeypatch.delenv(variable, raising=False)
    return load(INSPECT, monkeypatch)


@pytest.fixture
def run_inspect() -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(*args: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(INSPECT), *map(str, args)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return run


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ModuleType]]:
    """Imports a benchmark by its name; it and what it imports from bench/ is forgotten after it."""
    names = [script.stem for script in BENCH.glob("*.py")]
    monkeypatch.syspath_prepend(BENCH)
    for name in names:  # one of them is also a module of these tests
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module
    for name in names:
        sys.modules.pop(name, None)


@pytest.fixture
def serve(bench: Callable[[str], ModuleType]) -> ModuleType:
    return bench("serve")


@pytest.fixture
def make_server(serve: ModuleType, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Makes servers that answer nobody, of one process that runs `code`."""
    processes = []

    def make(weights: str, code: str = SILENT) -> Any:
        log = tmp_path / f"{weights}.log"
        log.write_text("the server's last words\n")
        process = subprocess.Popen(
            [sys.executable, "-c", code], start_new_session=True, stdout=subprocess.PIPE
        )
        processes.append(process)
        url = "http://127.0.0.1:1"  # where nobody listens
        return serve.Server("llama3-8b", weights, 100, log, url, process, time.monotonic())

    yield make
    for process in processes:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
