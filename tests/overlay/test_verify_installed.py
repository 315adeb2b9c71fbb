# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""`verify` checks an installed copy as pip leaves it."""

import zipfile
from pathlib import Path

import pytest
from fake_wheel import OURS, our_files, write_wheel

from overlay.errors import OverlayError
from overlay.verify import verify


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A site-packages folder with the wheel, another package, byte code and pip's own lines."""
    folder = tmp_path / "lib" / "python3.11" / "site-packages"
    with zipfile.ZipFile(write_wheel(tmp_path / OURS, our_files())) as archive:
        archive.extractall(folder)
    (folder / "other").mkdir()
    (folder / "other" / "__init__.py").touch()
    cache = folder / "vllm" / "__pycache__"
    cache.mkdir()
    (cache / "new.cpython-311.pyc").touch()
    info = folder / "vllm-1.2.3+ternary.1.dist-info"
    (info / "INSTALLER").write_text("pip\n")
    with (info / "RECORD").open("a") as record:
        record.write("vllm-1.2.3+ternary.1.dist-info/INSTALLER,,\n")
        record.write("vllm/__pycache__/gone.cpython-311.pyc,,\n")
    return folder


def test_right(installed: Path) -> None:
    assert verify(installed).faults == []


def test_binaries_of_the_cpu_try_out(installed: Path) -> None:
    for name in ("_C", "_C_AVX2", "_C_AVX512"):
        (installed / "vllm" / f"{name}.abi3.so").touch()
    assert verify(installed).faults == []


def test_changed(installed: Path) -> None:
    (installed / "vllm" / "__init__.py").write_text("import sys\n")
    assert verify(installed).faults == ["vllm/__init__.py: differs from RECORD"]


def test_missing(installed: Path) -> None:
    (installed / "vllm" / "__init__.py").unlink()
    assert verify(installed).faults == ["vllm/__init__.py: missing"]


@pytest.mark.parametrize("name", ["vllm/stray.py", "vllm/_D.abi3.so", "vllm/stray.pyc"])
def test_extra(name: str, installed: Path) -> None:
    (installed / name).touch()
    assert verify(installed).faults == [f"{name}: extra, not in RECORD"]


def test_no_vllm(tmp_path: Path) -> None:
    with pytest.raises(OverlayError, match=r"0 files named ternary-manifest\.json"):
        verify(tmp_path)
