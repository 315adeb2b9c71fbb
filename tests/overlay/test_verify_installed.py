# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""`verify` checks an installed copy as pip leaves it."""

import zipfile
from pathlib import Path

import pytest
from fake_wheel import OURS, our_files, write_wheel

from overlay.errors import OverlayError
from overlay.verify import verify

INFO = "vllm-1.2.3+ternary.1.dist-info/"


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


@pytest.mark.parametrize(
    "name", ["vllm/__init__.py", "vllm/new.py", "vllm/_version.py", f"{INFO}METADATA"]
)
def test_missing(name: str, installed: Path) -> None:
    (installed / name).unlink()
    assert verify(installed).faults == [f"{name}: missing"]


def test_all_that_is_wrong_is_named(installed: Path) -> None:
    (installed / "vllm" / "__init__.py").write_text("import sys\n")
    (installed / "vllm" / "new.py").unlink()
    (installed / "vllm" / "old.py").touch()
    (installed / "vllm" / "stray.py").touch()
    assert sorted(verify(installed).faults) == [
        "vllm/__init__.py: differs from RECORD",
        "vllm/new.py: missing",
        "vllm/old.py: extra, not in RECORD",
        "vllm/old.py: should be gone",
        "vllm/stray.py: extra, not in RECORD",
    ]


def test_link_that_leads_nowhere(installed: Path) -> None:
    (installed / "vllm" / "stray.py").symlink_to("nowhere")
    assert verify(installed).faults == ["vllm/stray.py: extra, not in RECORD"]


def test_folder_in_a_files_place(installed: Path) -> None:
    (installed / "vllm" / "new.py").unlink()
    (installed / "vllm" / "new.py").mkdir()
    assert verify(installed).faults == ["vllm/new.py: missing"]


def test_no_record(installed: Path) -> None:
    (installed / INFO / "RECORD").unlink()
    with pytest.raises(OverlayError, match="RECORD is missing"):
        verify(installed)


def test_record_that_is_no_text(installed: Path) -> None:
    (installed / INFO / "RECORD").write_bytes(b"vllm/caf\xe9.py,,\n")
    with pytest.raises(OverlayError, match="RECORD is not UTF-8"):
        verify(installed)


@pytest.mark.parametrize("name", ["vllm/stray.py", "vllm/_D.abi3.so", "vllm/stray.pyc"])
def test_extra(name: str, installed: Path) -> None:
    (installed / name).touch()
    assert verify(installed).faults == [f"{name}: extra, not in RECORD"]


def test_no_vllm(tmp_path: Path) -> None:
    with pytest.raises(OverlayError, match=r"no ternary-manifest\.json in it"):
        verify(tmp_path)
