# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Without a GPU the benchmark says so in one line and writes nothing."""

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "bench" / "kernels.py"


def test_one_line(tmp_path: Path) -> None:
    out = tmp_path / "rows.json"
    done = subprocess.run(
        [sys.executable, SCRIPT, "--out", out],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"CUDA_VISIBLE_DEVICES": ""},
    )
    assert done.returncode == 1
    assert done.stderr == "error: no NVIDIA GPU found through torch\n"
    assert not out.exists()
