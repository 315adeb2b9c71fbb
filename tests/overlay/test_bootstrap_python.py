# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Another Python's user is told what fits each of the scripts: they take PATH's python3."""

from collections import namedtuple
from pathlib import Path

import pytest

from overlay import bootstrap

Version = namedtuple("Version", "major minor micro releaselevel serial")


@pytest.mark.parametrize("minor", [10, 15])
def test_python_of_path(minor: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.version_info", Version(3, minor, 0, "final", 0))
    (tmp_path / "requirements.txt").write_text("one==1\n")
    with pytest.raises(
        SystemExit, match=r"install Python 3\.11 to 3\.14 and put it first on PATH as python3$"
    ):
        bootstrap.ensure_venv(tmp_path)
    assert not (tmp_path / ".work").exists()
