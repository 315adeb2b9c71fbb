# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""`verify` names each file of a wheel that differs, is missing, or is extra."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_wheel import OURS, our_files, write_wheel

from overlay import verify as module
from overlay.errors import OverlayError, UsageError
from overlay.verify import verify

INFO = "vllm-1.2.3+ternary.1.dist-info/"
Change = Callable[[dict[str, bytes]], object]


def _faults(folder: Path, change: Change) -> list[str]:
    """The faults of a wheel with a right RECORD for what a change makes of its files."""
    files = our_files()
    change(files)
    return verify(write_wheel(folder / OURS, files)).faults


def test_right(tmp_path: Path) -> None:
    report = verify(write_wheel(tmp_path / OURS, our_files()))
    assert (report.version, report.patches, report.faults) == ("1.2.3+ternary.1", 1, [])


@pytest.mark.parametrize(
    ("change", "faults"),
    [
        (
            lambda files: files.update({"vllm/new.py": b"NEW = 2\n"}),
            ["vllm/new.py: differs from the manifest"],
        ),
        (lambda files: files.pop("vllm/new.py"), ["vllm/new.py: missing"]),
        (lambda files: files.pop("vllm/_version.py"), ["vllm/_version.py: missing"]),
        (lambda files: files.update({"vllm/old.py": b""}), ["vllm/old.py: should be gone"]),
        (
            lambda files: files.update({f"{INFO}METADATA": b"Version: 9\n\n"}),
            [f"{INFO}METADATA: the version is 9, not 1.2.3+ternary.1"],
        ),
        (
            lambda files: files.update({f"{INFO}WHEEL": b"Tag: py3-none-any\n"}),
            ["the file's name says cp38-abi3-manylinux_2_28_x86_64, WHEEL py3-none-any"],
        ),
    ],
)
def test_one_fault(change: Change, faults: list[str], tmp_path: Path) -> None:
    assert _faults(tmp_path, change) == faults


def test_module_reports_other_version(tmp_path: Path) -> None:
    faults = _faults(
        tmp_path, lambda files: files.update({"vllm/_version.py": b"__version__ = version = '9'\n"})
    )
    assert "vllm/_version.py: the version is 9, not 1.2.3+ternary.1" in faults


def test_extra_member(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path / OURS, our_files())
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("vllm/stray.py", b"")
    assert verify(wheel).faults == ["vllm/stray.py: extra, not in RECORD"]


def test_member_twice(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path / OURS, our_files())
    with zipfile.ZipFile(wheel, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("vllm/new.py", our_files()["vllm/new.py"])
    assert verify(wheel).faults == ["vllm/new.py: is there twice"]


def test_missing_member_that_record_lists(tmp_path: Path) -> None:
    files = our_files()
    wheel = write_wheel(tmp_path / OURS, files)
    with zipfile.ZipFile(wheel) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    del members["vllm/__init__.py"]
    write_wheel(tmp_path / OURS, members, record=False)
    assert verify(wheel).faults == ["vllm/__init__.py: missing"]


def test_manifest_that_lacks_a_part(tmp_path: Path) -> None:
    files = our_files()
    name = f"{INFO}ternary-manifest.json"
    files[name] = b'{"format": 1, "version": "1.2.3+ternary.1"}'
    with pytest.raises(OverlayError, match="has no 'patches'"):
        verify(write_wheel(tmp_path / OURS, files))


def test_file_name_of_other_version(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path / OURS, our_files())
    renamed = wheel.rename(tmp_path / OURS.replace("ternary.1", "ternary.2"))
    with pytest.raises(OverlayError, match=r"ternary\.2\.dist-info/WHEEL"):
        verify(renamed)


def test_damaged_member(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path / OURS, our_files())
    data = wheel.read_bytes()
    with zipfile.ZipFile(wheel) as archive:
        start = archive.getinfo("vllm/__init__.py").header_offset
    place = data.index(b"vllm/__init__.py", start) + len(b"vllm/__init__.py")
    wheel.write_bytes(data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :])
    assert [fault.split(":")[0] for fault in verify(wheel).faults] == ["vllm/__init__.py"]


def test_cut_short(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path / OURS, our_files())
    wheel.write_bytes(wheel.read_bytes()[:-100])
    with pytest.raises(OverlayError, match="not a whole zip file"):
        verify(wheel)


def test_official_wheel(tmp_path: Path) -> None:
    files = our_files()
    del files[f"{INFO}ternary-manifest.json"]
    with pytest.raises(OverlayError, match=r"no ternary-manifest\.json in it"):
        verify(write_wheel(tmp_path / OURS, files))


def test_manifest_of_a_later_format(tmp_path: Path) -> None:
    files = our_files()
    name = f"{INFO}ternary-manifest.json"
    files[name] = json.dumps({**json.loads(files[name]), "format": 2}).encode()
    with pytest.raises(OverlayError, match="is not of format 1"):
        verify(write_wheel(tmp_path / OURS, files))


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such wheel or folder"):
        verify(tmp_path / OURS)


def test_python_without_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be looked at is no fault of the wheel; the note says where it can be."""
    files = our_files()
    name = f"{INFO}ternary-manifest.json"
    library = {"file": "vllm/new.py", "architectures": ["8.0"]}
    files[name] = json.dumps({**json.loads(files[name]), "extension": library}).encode()
    wheel = write_wheel(tmp_path / OURS, files)
    monkeypatch.setattr(module.elf, "extension_fault", lambda data: None)
    monkeypatch.setattr(module, "_LOAD", f"raise SystemExit({module._NO_TORCH})")
    report = verify(wheel)
    assert report.faults == []
    assert len(report.notes) == 1
    assert "has no torch; verify an installed copy" in report.notes[0]
    folder = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    assert [note.endswith("has no torch") for note in verify(folder).notes] == [True]
