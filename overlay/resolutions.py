# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Resolutions of conflicts, remembered by what clashed, as git's rerere does.

A conflict is known by the lines on both sides of its markers, wherever it stands: one that comes
again, in a file that changed elsewhere, is resolved as it was.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from overlay.files import make_folder
from overlay.git import Git
from overlay.merge import merge_file

OPEN, BASE, CLOSE = b"<<<<<<< ", b"||||||| ", b">>>>>>> "


def known(git: Git, folder: Path, marked: bytes) -> bytes | None:
    """The resolution of a file with conflict markers, when its conflicts were resolved before."""
    place = folder / _key(marked)
    try:
        before, after = ((place / name).read_bytes() for name in ("conflict", "resolved"))
    except FileNotFoundError:
        return None
    if before == marked:
        return after
    # The same conflicts, but other lines around them.
    merged = merge_file(git, (marked, before, after))
    return None if merged.returncode else merged.stdout


def remember(folder: Path, marked: bytes, resolved: bytes) -> None:
    """Keep how the conflicts of a file were resolved; the last resolution counts."""

    def fill(draft: Path) -> None:
        (draft / "conflict").write_bytes(marked)
        (draft / "resolved").write_bytes(resolved)

    place = folder / _key(marked)
    shutil.rmtree(place, ignore_errors=True)
    make_folder(place, fill)


def unresolved(data: bytes) -> int:
    """The number of the first line that is a conflict marker of `merge_file`'s, or 0."""
    opened = 0
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.startswith(OPEN):
            opened = number
        elif line.startswith(CLOSE) and opened:
            return opened
    return 0


def _key(marked: bytes) -> str:
    """The hash of what stands between the markers, whatever their labels."""
    digest = hashlib.sha256()
    inside = False
    for line in marked.split(b"\n"):
        marker = next((m for m in (OPEN, BASE, CLOSE) if line.startswith(m)), None)
        if marker == OPEN:
            inside = True
        if inside:
            digest.update((marker or line) + b"\n")
        if marker == CLOSE:
            inside = False
    return digest.hexdigest()
