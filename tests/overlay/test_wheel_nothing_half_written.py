# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A wheel that cannot be written leaves nothing, and an earlier one stays as it was."""

import errno
import zipfile
from pathlib import Path

import pytest
from fake_wheel import OFFICIAL, OURS, official_files, write_official, write_wheel

from overlay.errors import OverlayError
from overlay.wheel import WheelName, WheelWriter


def test_disk_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    earlier = tmp_path / "dist" / OURS
    earlier.parent.mkdir()
    earlier.write_bytes(b"earlier")
    writer = WheelWriter(write_official(tmp_path), WheelName.parse(OURS))
    monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
    with pytest.raises(OverlayError, match=f"no space left on the disk of {earlier.parent}"):
        writer.write(earlier.parent, {"vllm/a.py": b""}, [])
    assert [path.name for path in earlier.parent.iterdir()] == [OURS]
    assert earlier.read_bytes() == b"earlier"


def test_file_to_leave_out_is_not_there(tmp_path: Path) -> None:
    writer = WheelWriter(write_official(tmp_path), WheelName.parse(OURS))
    with pytest.raises(OverlayError, match=r"has no vllm/nope\.py to leave out"):
        writer.write(tmp_path / "dist", {}, ["vllm/nope.py"])
    assert not list((tmp_path / "dist").iterdir())


def test_member_that_record_does_not_list(tmp_path: Path) -> None:
    official = write_wheel(tmp_path / OFFICIAL, official_files())
    with zipfile.ZipFile(official, "a") as archive:
        archive.writestr("vllm/stray.py", b"")
    with pytest.raises(OverlayError, match=r"RECORD does not list vllm/stray\.py"):
        WheelWriter(official, WheelName.parse(OURS)).write(tmp_path / "dist", {}, [])
    assert not list((tmp_path / "dist").iterdir())
