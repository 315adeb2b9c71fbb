# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""build.sh is its own checkout's, also in a folder that has an `overlay` of another one."""

import subprocess
from pathlib import Path

from overlay.paths import ROOT


def test_overlay_in_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "overlay").mkdir()
    (tmp_path / "overlay" / "__init__.py").touch()
    (tmp_path / "overlay" / "build.py").write_text("raise SystemExit('of another checkout')\n")
    result = subprocess.run(
        [ROOT / "build.sh", "--help"], cwd=tmp_path, capture_output=True, text=True
    )
    assert result.stdout.startswith("usage: build.sh"), result.stderr
