# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Without a GPU bench/serve.py says so before it writes a checkpoint."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("aiohttp")

SCRIPT = Path(__file__).parents[2] / "bench" / "serve.py"


def test_one_line(tmp_path: Path) -> None:
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    environment.pop("VLLM_TARGET_DEVICE", None)
    done = subprocess.run(
        [
            sys.executable,
            SCRIPT,
            "--out",
            tmp_path / "rows.json",
            "--folder",
            tmp_path,
            "small-lm:bf16",
        ],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 1
    assert done.stderr == "error: no NVIDIA GPU found through torch\n"
    assert list(tmp_path.iterdir()) == []
