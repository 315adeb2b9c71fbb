# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Replacing a whole folder at once."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from overlay.errors import OverlayError
from overlay.files import no_space_is_an_error

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


@contextmanager
def swapped(folder: Path) -> Iterator[Path]:
    """A copy of `folder` to change; it takes the folder's place when the block ends well.

    Whoever looks at the folder, at any moment, finds all of the old or all of the new.
    """
    new = _beside(folder, "new")
    try:
        if not os.access(folder, os.W_OK):
            # An exchange would not ask for this right.
            raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
        with no_space_is_an_error(folder):
            _copy(folder, new)
            yield new
            _exchange(new, folder)
    except OSError as fault:
        raise OverlayError(f"{fault.filename or folder}: {fault.strerror}") from fault
    finally:
        shutil.rmtree(new, ignore_errors=True)


def finish_swap(folder: Path) -> None:
    """Clear away what a killed `swapped` left."""
    new, old = _beside(folder, "new"), _beside(folder, "old")
    if new.exists() and not folder.exists():  # killed between the two renames
        new.rename(folder)
    for left in (new, old):
        if left.exists():
            shutil.rmtree(left)


def _copy(folder: Path, new: Path) -> None:
    try:
        shutil.copytree(folder, new, symlinks=True)
    except shutil.Error as faults:  # of each file, in words
        path, _, words = faults.args[0][0]
        full = os.strerror(errno.ENOSPC) in words
        raise OSError(errno.ENOSPC if full else errno.EIO, words, path) from faults


def _beside(folder: Path, kind: str) -> Path:
    # On the folder's own file system, so that it can be renamed.
    return folder.with_name(f".{folder.name}.{kind}")


def _exchange(new: Path, old: Path) -> None:
    """Exchange two folders in one step, where the file system can do that."""
    libc = ctypes.CDLL(None, use_errno=True)
    status = libc.renameat2(
        _AT_FDCWD, os.fsencode(new), _AT_FDCWD, os.fsencode(old), _RENAME_EXCHANGE
    )
    if status == 0:
        return
    code = ctypes.get_errno()
    if code not in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        raise OSError(code, os.strerror(code), str(old))
    aside = _beside(old, "old")
    old.rename(aside)
    new.rename(old)
    shutil.rmtree(aside, ignore_errors=True)
