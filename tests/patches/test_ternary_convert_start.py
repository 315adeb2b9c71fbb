# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The command does not import the engine, and both ways to start it are there."""

import subprocess
import sys

import pytest

pytest.importorskip("vllm")


def test_the_engine_is_not_imported() -> None:
    script = (
        "import sys, vllm.ternary.inspection, vllm.ternary.convert, vllm.ternary.cli\n"
        "print(*(name for name in sys.modules if name.startswith('vllm.')))\n"
        "print('transformers' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    modules, transformers = done.stdout.splitlines()[-2:]
    for name in ("vllm.engine", "vllm.v1", "vllm.config", "vllm.model_executor", "vllm.platforms"):
        assert name not in modules.split()
    assert transformers == "False"


def test_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "vllm.ternary", "inspect", "/nonexistent"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "/nonexistent does not exist" in done.stderr


def test_console_script() -> None:
    from importlib.metadata import entry_points

    (script,) = entry_points(group="console_scripts", name="vllm-ternary")
    assert script.value == "vllm.ternary.cli:main"
    assert script.load().__module__ == "vllm.ternary.cli"
