# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A wheel is written from the official one: what is unchanged keeps its compressed bytes."""

import csv
import io
import zipfile
from pathlib import Path

import pytest
from fake_wheel import OURS, official_files, write_official

from overlay.wheel import WheelName, WheelWriter, digest

ADDED = {
    "vllm/__init__.py": b"patched\n",
    "vllm/new.py": b"NEW = 1\n",
    "vllm/_x.abi3.so": b"\x7fELF",
    "vllm-1.2.3.dist-info/METADATA": b"Version: 1.2.3+ternary.1\n",
}
GONE = ["vllm/a,b.json"]


@pytest.fixture
def official(tmp_path: Path) -> Path:
    return write_official(tmp_path)


@pytest.fixture
def written(official: Path, tmp_path: Path) -> Path:
    return WheelWriter(official, WheelName.parse(OURS)).write(tmp_path / "dist", ADDED, GONE)


def test_name(written: Path) -> None:
    assert written.name == OURS


def test_contents(written: Path) -> None:
    wanted = {**official_files(), **ADDED}
    del wanted["vllm/a,b.json"]
    with zipfile.ZipFile(written) as archive:
        assert archive.testzip() is None
        found = {name: archive.read(name) for name in archive.namelist()}
    record = found.pop("vllm-1.2.3+ternary.1.dist-info/RECORD")
    assert found == {
        name.replace("1.2.3.dist", "1.2.3+ternary.1.dist"): wanted[name] for name in wanted
    }
    assert record


def test_record(written: Path) -> None:
    with zipfile.ZipFile(written) as archive:
        lines = list(csv.reader(io.TextIOWrapper(archive.open(archive.namelist()[-1]))))
        assert [line[0] for line in lines] == archive.namelist()
        assert lines[-1] == ["vllm-1.2.3+ternary.1.dist-info/RECORD", "", ""]
        for name, recorded, size in lines[:-1]:
            assert (recorded, int(size)) == (digest(archive.read(name)), len(archive.read(name)))


def test_unchanged_members_are_copied(official: Path, written: Path) -> None:
    with zipfile.ZipFile(official) as old, zipfile.ZipFile(written) as new:
        before, after = old.getinfo("vllm/run.sh"), new.getinfo("vllm/run.sh")
    for name in (
        "CRC",
        "compress_size",
        "file_size",
        "date_time",
        "external_attr",
        "create_system",
    ):
        assert getattr(before, name) == getattr(after, name)


def test_permissions(written: Path) -> None:
    with zipfile.ZipFile(written) as archive:
        modes = {one.filename: one.external_attr >> 16 for one in archive.infolist()}
    assert modes["vllm/__init__.py"] == 0o100664
    assert modes["vllm/new.py"] == 0o100644
    assert modes["vllm/_x.abi3.so"] == 0o100755
