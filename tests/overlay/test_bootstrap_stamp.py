# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The tool's environment is made when missing, kept, and made anew when cut short or outdated."""

import shutil
import subprocess
from pathlib import Path

import pytest

from overlay import bootstrap


def test_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Path] = []

    def make(root: Path, venv: Path) -> None:
        shutil.rmtree(venv, ignore_errors=True)
        (venv / "bin").mkdir(parents=True)
        (venv / "bin" / "python").touch()
        made.append(venv)

    monkeypatch.setattr(bootstrap, "_make", make)
    (tmp_path / "requirements.txt").write_text("one==1\n")
    bootstrap.ensure_venv(tmp_path)
    bootstrap.ensure_venv(tmp_path)
    assert len(made) == 1
    (tmp_path / "requirements.txt").write_text("one==2\n")
    bootstrap.ensure_venv(tmp_path)
    assert len(made) == 2
    (tmp_path / ".work" / "venv" / "complete").unlink()
    bootstrap.ensure_venv(tmp_path)
    assert len(made) == 3


def test_failed_install_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **named: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess([], 1, "", "WARNING: x\nERROR: No matching thing\n")

    monkeypatch.setattr(bootstrap.subprocess, "run", fail)
    (tmp_path / "requirements.txt").write_text("one==1\n")
    with pytest.raises(SystemExit, match=r"could not be made: ERROR: No matching thing$"):
        bootstrap.ensure_venv(tmp_path)
    assert not (tmp_path / ".work" / "venv" / "complete").exists()
