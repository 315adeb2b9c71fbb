# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Wheels as zip files: reading one's RECORD, and writing one from another with changes."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import re
import struct
import time
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from overlay.errors import OverlayError
from overlay.files import whole_file

_NAME = re.compile(
    r"(?P<name>[^-]+)-(?P<version>[^-]+)-(?P<python>[^-]+-[^-]+)-(?P<platform>[^-]+)"
)
_AFTER_2107 = 4354819200  # seconds to 2108, which no zip file can hold
# Of a member's own header: all but the two lengths is in the central directory as well.
_LOCAL_HEADER = struct.Struct("<26xHH")


@dataclass(frozen=True)
class WheelName:
    """A wheel's file name, in its parts; `python` is the Python and the ABI tag."""

    name: str
    version: str
    python: str
    platform: str

    @classmethod
    def parse(cls, file: str) -> WheelName:
        """The parts of a file name. Raises OverlayError when it is not a wheel's."""
        match = _NAME.fullmatch(file.removesuffix(".whl"))
        if match is None or not file.endswith(".whl"):
            raise OverlayError(f"{file} is not the name of a wheel")
        return cls(**match.groupdict())

    @property
    def file(self) -> str:
        """The file name."""
        return f"{self.name}-{self.version}-{self.tag}.whl"

    @property
    def tag(self) -> str:
        """The tag, as WHEEL has it."""
        return f"{self.python}-{self.platform}"

    @property
    def dist_info(self) -> str:
        """The folder of the wheel's metadata, with a slash."""
        return f"{self.name}-{self.version}.dist-info/"


@dataclass(frozen=True)
class Recorded:
    """A line of RECORD: the file's hash as it stands there (empty for RECORD itself) and size."""

    digest: str
    size: int | None


def digest(data: bytes) -> str:
    """A hash as RECORD has it: sha256, in unpadded URL-safe base64."""
    return encode_digest(hashlib.sha256(data).digest())


def encode_digest(raw: bytes) -> str:
    """The RECORD form of a SHA-256 digest."""
    return "sha256=" + base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def read_record(text: str) -> dict[str, Recorded]:
    """RECORD's lines by path. Raises OverlayError for a line that is none, and for a path twice."""
    found: dict[str, Recorded] = {}
    for number, row in enumerate(csv.reader(io.StringIO(text)), 1):
        if len(row) != 3 or not (row[2] == "" or row[2].isdecimal()):
            raise OverlayError(f"RECORD:{number}: not a line of three fields: {','.join(row)}")
        if row[0] in found:
            raise OverlayError(f"RECORD:{number}: {row[0]} is there twice")
        found[row[0]] = Recorded(row[1], int(row[2]) if row[2] else None)
    return found


def timestamp(official: zipfile.ZipFile) -> tuple[int, int, int, int, int, int]:
    """The time of new members: SOURCE_DATE_EPOCH, or the newest in the official wheel.

    Raises OverlayError when SOURCE_DATE_EPOCH is not a time that a zip file can hold.
    """
    text = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not text:
        return max(member.date_time for member in official.infolist())
    if not text.isdecimal():
        raise OverlayError(f"SOURCE_DATE_EPOCH is {text!r}: a number of seconds is needed")
    moment = time.gmtime(min(int(text), _AFTER_2107))[:6]
    if not 1980 <= moment[0] <= 2107:
        raise OverlayError(f"SOURCE_DATE_EPOCH is {text}: a zip file holds the years 1980 to 2107")
    return moment


class WheelWriter:
    """Writes `target` from the official wheel: what is not changed is copied as it lies there.

    `added` maps paths to new contents, `gone` names paths to leave out. Paths of the metadata
    folder are given under the official wheel's name for it and get the target's.
    """

    def __init__(self, official: Path, target: WheelName) -> None:
        self._official = official
        self._target = target
        self._from = WheelName.parse(official.name)

    def write(self, folder: Path, added: Mapping[str, bytes], gone: Iterable[str]) -> Path:
        """Write the wheel into `folder`; it appears there whole or not at all.

        The same input gives the same bytes. Raises OverlayError when the official wheel lacks what
        is to go, when its RECORD does not fit its members, or when the disk is full.
        """
        path = folder / self._target.file
        record_name = self._from.dist_info + "RECORD"
        with whole_file(path) as draft, zipfile.ZipFile(self._official) as source:
            members = {member.filename: member for member in source.infolist()}
            record = read_record(source.read(record_name).decode())
            leave_out = {record_name, *added, *gone}
            absent = sorted(set(gone) - members.keys())
            if absent:
                raise OverlayError(f"the official wheel has no {absent[0]} to leave out")
            if unrecorded := sorted(members.keys() - record.keys()):
                raise OverlayError(f"the official wheel's RECORD does not list {unrecorded[0]}")
            lines: dict[str, Recorded] = {}
            moment = timestamp(source)
            with (
                self._official.open("rb") as packed,
                zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as out,
            ):
                for member in source.infolist():
                    if member.filename not in leave_out:
                        lines[self._rename(member.filename)] = record[member.filename]
                        self._copy(packed, member, out)
                for name in sorted(added):
                    lines[self._rename(name)] = Recorded(digest(added[name]), len(added[name]))
                    self._add(out, name, added[name], members.get(name), moment)
                lines[self._rename(record_name)] = Recorded("", None)
                text = _write_record(lines)
                self._add(out, record_name, text, members[record_name], moment)
        return path

    def _rename(self, name: str) -> str:
        """A path with the metadata folder's new name."""
        if name.startswith(self._from.dist_info):
            return self._target.dist_info + name.removeprefix(self._from.dist_info)
        return name

    def _copy(self, packed: IO[bytes], member: zipfile.ZipInfo, out: zipfile.ZipFile) -> None:
        """Copy a member's compressed bytes: 300 MB are neither unpacked nor packed again."""
        assert out.fp is not None
        packed.seek(member.header_offset)
        name_length, extra_length = _LOCAL_HEADER.unpack(packed.read(_LOCAL_HEADER.size))
        packed.seek(name_length + extra_length, os.SEEK_CUR)
        copy = zipfile.ZipInfo(self._rename(member.filename), member.date_time)
        copy.compress_type = member.compress_type
        copy.create_system = member.create_system
        copy.external_attr = member.external_attr
        copy.CRC = member.CRC
        copy.compress_size = member.compress_size
        copy.file_size = member.file_size
        copy.header_offset = out.fp.tell()
        out.fp.write(copy.FileHeader())
        _copy_bytes(packed, out.fp, member.compress_size)
        out.filelist.append(copy)
        out.NameToInfo[copy.filename] = copy
        out.start_dir = out.fp.tell()

    def _add(
        self,
        out: zipfile.ZipFile,
        name: str,
        data: bytes,
        old: zipfile.ZipInfo | None,
        moment: tuple[int, int, int, int, int, int],
    ) -> None:
        """Add a member with new contents, with the permissions it had."""
        info = zipfile.ZipInfo(self._rename(name), moment)
        info.compress_type = zipfile.ZIP_DEFLATED
        info.create_system = 3
        mode = 0o100755 if name.endswith(".so") else 0o100644
        info.external_attr = old.external_attr if old else mode << 16
        out.writestr(info, data)


def _write_record(lines: Mapping[str, Recorded]) -> bytes:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    for name, line in lines.items():
        writer.writerow([name, line.digest, "" if line.size is None else line.size])
    return stream.getvalue().encode()


def _copy_bytes(source: IO[bytes], target: IO[bytes], count: int) -> None:
    while count:
        block = source.read(min(count, 1 << 20))
        if not block:
            raise OverlayError("the official wheel is cut short")
        target.write(block)
        count -= len(block)
