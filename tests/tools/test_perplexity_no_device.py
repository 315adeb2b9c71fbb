# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Where vLLM has nothing to run on, bench/perplexity.py says so before it starts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

BENCH = Path(__file__).parents[2] / "bench"


def test_one_line() -> None:
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    environment.pop("VLLM_TARGET_DEVICE", None)
    done = subprocess.run(
        [sys.executable, BENCH / "perplexity.py", BENCH / "models" / "small-lm"],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == "error: no NVIDIA GPU found through torch\n"
