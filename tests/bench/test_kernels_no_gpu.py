# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Without a GPU, or torch, the benchmarks that need one say so in one line and write nothing."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"
HAS_TORCH = find_spec("torch") is not None
PLAIN_PYTHON = "torch: take the Python that the wheel is installed in"


@pytest.mark.parametrize(
    "command", [["kernels.py"], ["dispatch.py"], ["first_token.py", "bench/models/small-lm"]]
)
def test_one_line(command: list[str], tmp_path: Path) -> None:
    out = tmp_path / "rows.json"
    script, *arguments = command
    done = subprocess.run(
        [sys.executable, BENCH / script, *arguments, "--out", out],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"CUDA_VISIBLE_DEVICES": ""},
    )
    assert done.returncode == 1
    missing = "NVIDIA GPU found through torch" if HAS_TORCH else PLAIN_PYTHON
    assert done.stderr == f"error: no {missing}\n"
    assert not out.exists()
