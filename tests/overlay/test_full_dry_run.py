# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""`--full --dry-run` prints what the complete build would run; it runs with its own tools."""

import shlex
import sys
from pathlib import Path

import pytest

from overlay import full
from overlay.archs import DEFAULT
from overlay.errors import OverlayError
from overlay.pin import load_pin


def test_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CUDA_HOME", "/opt/cuda 13")
    pin = load_pin()
    full.build(pin, tmp_path / "vllm", tmp_path / "dist", tmp_path, DEFAULT, 8, dry_run=True)
    lines = [shlex.split(line) for line in capsys.readouterr().out.splitlines()]
    settings = [words[1] for words in lines if words[0] == "export"]
    assert "CUDA_HOME=/opt/cuda 13" in settings
    assert "MAX_JOBS=8" in settings
    assert "TORCH_CUDA_ARCH_LIST=8.0 8.6 8.9 9.0 10.0 12.0" in settings
    assert f"VLLM_VERSION_OVERRIDE={pin.wheel_version}" in settings
    assert lines[-3] == [sys.executable, "-m", "venv", str(tmp_path / "full" / "venv")]
    assert lines[-1][1:4] == ["-m", "pip", "wheel"]
    assert lines[-1][-1] == str(tmp_path / "full" / "vllm")
    clone = ["git", "clone", "--quiet", str(tmp_path / "vllm"), str(tmp_path / "full" / "vllm")]
    assert clone in lines
    assert list(tmp_path.iterdir()) == []


def test_its_own_tools_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("nvcc", "cargo", "protoc"):
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / name).touch(mode=0o755)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/bin")
    monkeypatch.setenv("PIP_USER", "1")
    seen = []
    monkeypatch.setattr(full.process, "run", lambda *args, env, show: seen.append(env))
    full.build(load_pin(), tmp_path, tmp_path, tmp_path, DEFAULT, 8, dry_run=False)
    assert {env["PATH"] for env in seen} == {f"{tmp_path}/full/venv/bin:{tmp_path}/bin:/bin"}
    assert not any("PIP_USER" in env for env in seen)


def test_no_toolkit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    with pytest.raises(OverlayError, match=r"--full needs a whole CUDA .*bin/nvcc is missing"):
        full.build(load_pin(), tmp_path, tmp_path, tmp_path, DEFAULT, 8, dry_run=False)
