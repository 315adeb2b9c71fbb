# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""With a Python without packages, training and its preparation say so in one line."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "bench" / "small_lm"


@pytest.mark.parametrize("script", ["prepare.py", "train.py"])
def test_one_line(script: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-S", FOLDER / script],  # without the packages of its environment
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 1
    assert done.stderr == "error: no numpy: take the Python that the wheel is installed in\n"
