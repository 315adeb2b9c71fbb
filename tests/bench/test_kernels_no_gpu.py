# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Without a GPU the benchmarks of the kernels say so in one line and write nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"


@pytest.mark.parametrize("script", ["kernels.py", "dispatch.py"])
def test_one_line(script: str, tmp_path: Path) -> None:
    out = tmp_path / "rows.json"
    done = subprocess.run(
        [sys.executable, BENCH / script, "--out", out],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"CUDA_VISIBLE_DEVICES": ""},
    )
    assert done.returncode == 1
    assert done.stderr == "error: no NVIDIA GPU found through torch\n"
    assert not out.exists()
