# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Checking a wheel, or an installed copy of one, against the manifest and the RECORD inside it."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.parser import BytesParser
from pathlib import Path
from typing import IO, Any, Protocol

from overlay import contents, elf, tryout
from overlay.errors import OverlayError, UsageError
from overlay.wheel import Recorded, WheelName, encode_digest, read_record

# What reading a zip file raises when it, or a member, is not what was written.
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError)

_NO_TORCH = 77
_LOAD = f"""
import importlib.util, sys
try:
    import torch
except ImportError:
    sys.exit({_NO_TORCH})
spec = importlib.util.spec_from_file_location("_ternary_C", sys.argv[1])
spec.loader.exec_module(importlib.util.module_from_spec(spec))
print(torch.ops._ternary_C.compiled_archs())
"""


@dataclass
class Report:
    """What a verification found: the faults, and what could not be looked at."""

    version: str = ""
    patches: int = 0
    files: int = 0
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Copy(Protocol):
    """A wheel or an installed copy: files by their path in the wheel."""

    name: str
    twice: set[str]  # paths that two files have

    def paths(self) -> set[str]: ...

    def open(self, path: str) -> IO[bytes]: ...

    def on_disk(self, path: str) -> Any: ...

    def python(self) -> Path: ...


def verify(path: Path) -> Report:
    """Check a wheel or a site-packages folder; report what differs, is missing or is extra.

    Raises UsageError when there is nothing to check at `path`, and OverlayError when it is not a
    wheel, or holds no vLLM, of this project.
    """
    if path.is_dir():
        return _verify(_Installed(path))
    if not path.is_file():
        raise UsageError(f"{path}: no such wheel or folder")
    name = WheelName.parse(path.name)
    try:
        with zipfile.ZipFile(path) as archive:
            copy = _Wheel(path.name, archive)
            report = _verify(copy)
            tags = BytesParser().parsebytes(_read(copy, f"{name.dist_info}WHEEL")).get_all("Tag")
    except _DAMAGED as fault:
        raise OverlayError(f"{path}: not a whole zip file: {fault}") from fault
    except KeyError as fault:
        raise OverlayError(f"{path}: {fault.args[0]}") from fault
    if name.version != report.version:
        report.faults.append(f"the file's name says {name.version}, its manifest {report.version}")
    if tags != [name.tag]:
        report.faults.append(
            f"the file's name says {name.tag}, WHEEL {' '.join(tags or ['nothing'])}"
        )
    return report


def _verify(copy: Copy) -> Report:
    paths = copy.paths()
    found = sorted(path for path in paths if path.endswith(f".dist-info/{contents.FILE}"))
    if not found:
        raise OverlayError(f"{copy.name}: no {contents.FILE} in it: no wheel of this project")
    if len(found) > 1:
        raise OverlayError(
            f"{copy.name}: {len(found)} files named {contents.FILE} in .dist-info folders; a wheel "
            "of this project has one"
        )
    dist_info = found[0].removesuffix(contents.FILE)
    manifest = contents.parse(_read(copy, found[0]), copy.name)
    record = _record(copy, dist_info, paths)
    report = Report(manifest["version"], len(manifest["patches"]), len(record))
    report.faults += [f"{path}: is there twice" for path in sorted(copy.twice)]
    _check_versions(copy, dist_info, paths, report)
    digests = _check_record(copy, record, paths, report)
    _check_manifest(manifest, digests, paths, report)
    _check_extra(paths, record, report)
    _check_extension(copy, manifest, paths, report)
    return report


def _record(copy: Copy, dist_info: str, paths: set[str]) -> dict[str, Recorded]:
    """What RECORD lists; without one, or one that can be read, nothing can be checked."""
    path = f"{dist_info}RECORD"
    if path not in paths:
        raise OverlayError(f"{copy.name}: {path} is missing")
    try:
        return read_record(_read(copy, path).decode())
    except UnicodeDecodeError as fault:
        raise OverlayError(f"{copy.name}: {path} is not UTF-8") from fault


def _check_versions(copy: Copy, dist_info: str, paths: set[str], report: Report) -> None:
    """The version in METADATA, in the folder's name and in the module vLLM reports it from."""
    found = {dist_info: dist_info.removeprefix("vllm-").removesuffix(".dist-info/")}
    for path, pattern in (
        (f"{dist_info}METADATA", rb"^Version: (.*?)\r?$"),
        ("vllm/_version.py", rb"^__version__ = version = '(.*)'$"),
    ):
        if path in paths:  # else RECORD tells that it is missing
            match = re.search(pattern, _read(copy, path), re.MULTILINE)
            found[path] = match[1].decode(errors="replace") if match else "not said"
    report.faults += [
        f"{path}: the version is {version}, not {report.version}"
        for path, version in found.items()
        if version != report.version
    ]


def _check_record(
    copy: Copy, record: dict[str, Recorded], paths: set[str], report: Report
) -> dict[str, bytes]:
    """Each file in RECORD by size and hash; returns the SHA-256 of those that are there."""
    digests = {}
    for path, recorded in record.items():
        if path not in paths:
            # Byte code is listed without a hash and may be gone.
            if recorded.digest:
                report.faults.append(f"{path}: missing")
            continue
        if not recorded.digest:
            continue
        with copy.open(path) as stream:
            try:
                digest = hashlib.file_digest(stream, "sha256").digest()  # type: ignore[arg-type]
            except _DAMAGED as fault:
                report.faults.append(f"{path}: damaged: {fault}")
                continue
        digests[path] = digest
        if encode_digest(digest) != recorded.digest:
            report.faults.append(f"{path}: differs from RECORD")
    return digests


def _check_manifest(
    manifest: dict[str, Any], digests: dict[str, bytes], paths: set[str], report: Report
) -> None:
    """Each file of the manifest by hash, and the absence of those that were taken out."""
    for path, sha256 in manifest["files"].items():
        if path not in paths:
            if f"{path}: missing" not in report.faults:
                report.faults.append(f"{path}: missing")
        elif path not in digests:
            report.faults.append(f"{path}: not in RECORD")
        elif digests[path].hex() != sha256:
            report.faults.append(f"{path}: differs from the manifest")
    report.faults += [f"{path}: should be gone" for path in manifest["removed"] if path in paths]


def _check_extra(paths: set[str], record: dict[str, Recorded], report: Report) -> None:
    for path in sorted(paths - record.keys() - set(tryout.BINARIES)):
        if not ("/__pycache__/" in path and path.endswith(".pyc")):
            report.faults.append(f"{path}: extra, not in RECORD")


def _check_extension(copy: Copy, manifest: dict[str, Any], paths: set[str], report: Report) -> None:
    """That the extension would load, and, where there is a torch, that it does."""
    extension = manifest["extension"]
    if extension is None or extension["file"] not in paths:
        return
    path = extension["file"]
    fault = elf.extension_fault(_read(copy, path))
    if fault:
        report.faults.append(f"{path}: {fault}")
        return
    with copy.on_disk(path) as file:
        result = subprocess.run(
            [copy.python(), "-I", "-c", _LOAD, file],
            capture_output=True, text=True, errors="replace", check=False,
        )  # fmt: skip
    if result.returncode == _NO_TORCH:
        hint = "; verify an installed copy to have it loaded" if isinstance(copy, _Wheel) else ""
        report.notes.append(f"{path}: not loaded, as {copy.python()} has no torch{hint}")
    elif result.returncode:
        words = (result.stderr.strip().splitlines() or [f"exit code {result.returncode}"])[-1]
        report.faults.append(f"{path}: does not load: {words}")
    elif result.stdout.split() != extension["architectures"]:
        report.faults.append(
            f"{path}: has code for {' '.join(result.stdout.split())}, and the manifest says "
            f"{' '.join(extension['architectures'])}"
        )


def _read(copy: Copy, path: str) -> bytes:
    with copy.open(path) as stream:
        return stream.read()


class _Wheel:
    """A wheel as it lies in its zip file."""

    def __init__(self, name: str, archive: zipfile.ZipFile) -> None:
        self.name = name
        self._archive = archive
        counts = Counter(archive.namelist())
        self.twice = {path for path, count in counts.items() if count > 1}

    def paths(self) -> set[str]:
        return set(self._archive.namelist())

    def open(self, path: str) -> IO[bytes]:
        return self._archive.open(path)

    @contextmanager
    def on_disk(self, path: str) -> Iterator[Path]:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(self._archive.extract(path, folder))

    def python(self) -> Path:
        return Path(sys.executable)


class _Installed:
    """A copy in a site-packages folder: vllm/, its metadata, and what RECORD lists beside them."""

    def __init__(self, folder: Path) -> None:
        self.name = str(folder)
        self.twice: set[str] = set()
        self._folder = folder

    def paths(self) -> set[str]:
        found = [path for path in self._folder.glob("vllm-*.dist-info/*") if path.is_file()]
        found += [path for path in self._folder.glob("vllm-*.dist-info/*/*") if path.is_file()]
        inside = (self._folder / "vllm").rglob("*")
        found += [path for path in inside if path.is_symlink() or path.is_file()]
        names = {path.relative_to(self._folder).as_posix() for path in found}
        for record in self._folder.glob("vllm-*.dist-info/RECORD"):
            text = record.read_text(encoding="utf-8", errors="replace")
            outside = read_record(text).keys() - names  # programs, in a folder beside
            names |= {path for path in outside if (self._folder / path).is_file()}
        return names

    def open(self, path: str) -> IO[bytes]:
        try:
            return (self._folder / path).open("rb")
        except OSError as fault:
            raise OverlayError(f"{self._folder / path}: {fault.strerror}") from fault

    @contextmanager
    def on_disk(self, path: str) -> Iterator[Path]:
        yield self._folder / path

    def python(self) -> Path:
        own = self._folder.parent.parent.parent / "bin" / "python"
        return own if own.is_file() else Path(sys.executable)
