# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The tools are scripts: loaded from their files, or run as a user runs them."""

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

INSPECT = Path(__file__).parents[2] / "tools" / "inspect_w4a8.py"


@pytest.fixture
def inspect_w4a8(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    for variable in ("VLLM_MARLIN_INT8_EXCLUDE_RE", "VLLM_MARLIN_INT8_INCLUDE_RE"):
        monkeypatch.delenv(variable, raising=False)
    spec = importlib.util.spec_from_file_location("inspect_w4a8", INSPECT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "inspect_w4a8", module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def run_inspect() -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(*args: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(INSPECT), *map(str, args)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return run
