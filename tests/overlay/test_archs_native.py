# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""`--archs native` asks the driver and takes the code that runs on each GPU."""

from pathlib import Path

import pytest

from overlay.archs import parse
from overlay.errors import OverlayError


def _driver(folder: Path, monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    tool = folder / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\nprintf '{said}'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/bin")


@pytest.mark.parametrize(
    ("said", "archs"),
    [
        ("9.0\\n", ("9.0a",)),
        ("8.7\\n", ("8.6",)),
        ("12.1\\n8.6\\n12.0\\n", ("8.6", "12.0")),
        ("10.3\\n", ("10.0",)),
    ],
)
def test_gpus(
    said: str, archs: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _driver(tmp_path, monkeypatch, said)
    assert parse("native") == archs


@pytest.mark.parametrize("capability", ["7.5", "11.0", "9.1"])
def test_gpu_without_kernels(
    capability: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _driver(tmp_path, monkeypatch, f"{capability}\\n")
    with pytest.raises(OverlayError, match=f"compute capability {capability}, for which there are"):
        parse("native")


def test_no_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _driver(tmp_path, monkeypatch, "No devices were found\\n")
    with pytest.raises(OverlayError, match="names no GPU: 'No devices were found'"):
        parse("native")


def test_no_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(OverlayError, match=r"nvidia-smi is not on PATH.*name the architectures"):
        parse("native")
