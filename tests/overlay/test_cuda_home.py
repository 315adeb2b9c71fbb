# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""CUDA_HOME overrides the pinned compiler when it is CUDA of the pinned version."""

from pathlib import Path

import pytest

from overlay import compiler
from overlay.errors import OverlayError
from overlay.pin import load_pin


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A CUDA_HOME without an nvcc, and torch's headers at hand."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    monkeypatch.setattr(compiler, "_torch_headers", lambda pin: tmp_path)
    return tmp_path


def _nvcc(home: Path, version: str) -> None:
    path = home / "bin" / "nvcc"
    path.write_text(f"#!/bin/sh\necho 'Cuda compilation tools, release x, V{version}'\n")
    path.chmod(0o755)


def test_right_version(home: Path) -> None:
    _nvcc(home, "13.0.88")
    toolchain = compiler.prepare(load_pin())
    assert toolchain.nvcc == home / "bin" / "nvcc"
    assert toolchain.cuda_version == "13.0.88"


def test_other_version(home: Path) -> None:
    _nvcc(home, "12.9.86")
    with pytest.raises(OverlayError, match=r"is CUDA 12\.9\.86, torch's runtime 13\.0: set CUDA_"):
        compiler.prepare(load_pin())


def test_no_nvcc(home: Path) -> None:
    with pytest.raises(OverlayError, match="has no bin/nvcc: set CUDA_HOME"):
        compiler.prepare(load_pin())


def test_folder_in_the_cache_that_lost_files(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_HOME")
    monkeypatch.setattr(compiler, "_pinned_cuda", lambda pin: home)
    with pytest.raises(OverlayError, match=r"has lost its bin/nvcc: delete that folder"):
        compiler.prepare(load_pin())
