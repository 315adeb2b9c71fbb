# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""./test.sh --help says how it is called, and does nothing."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_nothing_is_installed(flag: str, tmp_path: Path) -> None:
    script = tmp_path / "test.sh"
    script.write_bytes((ROOT / "test.sh").read_bytes())
    done = subprocess.run(["bash", script, flag], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: ./test.sh ")
    assert list(tmp_path.iterdir()) == [script]
