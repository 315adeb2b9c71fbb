# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Emptying the work folder."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from overlay import tree
from overlay.errors import OverlayError
from overlay.git import Git
from overlay.paths import HERE, Workspace
from overlay.pin import Pin

_WHAT = {
    "bisect": "work tree and wheels of `bisect`",
    "build": "what the wheel was built from",
    "full": "the complete build",
    "resolutions": "how conflicts of upgrades were resolved",
    "tryout": "environment in which the wheel serves on a CPU",
    "venv": "the tool's own environment",
    "vllm": "the pinned source and the series, one commit a patch",
}


@dataclass(frozen=True)
class Item:
    """A file or folder in .work, and the bytes it takes on the disk."""

    name: str
    what: str
    size: int


def contents(workspace: Workspace = HERE) -> list[Item]:
    """What .work holds, the largest first; its locks are left out."""
    items = [Item(path.name, _WHAT.get(path.name, ""), _size(path)) for path in _paths(workspace)]
    return sorted(items, key=lambda item: (-item.size, item.name))


def clean(pin: Pin, workspace: Workspace = HERE) -> list[Item]:
    """Remove all that .work holds; return what it was.

    Raises OverlayError while something runs there, or the tree has work that patches/ has not.
    """
    with tree.opened(workspace), _nothing_runs(workspace):
        if workspace.tree.exists():
            facts = tree.inspect(Git(workspace.tree), pin)
            tree.refuse_work(facts, "clean")
        items = contents(workspace)
        # The environment that this runs in goes last: nothing is imported after it.
        for path in sorted(_paths(workspace), key=lambda path: path.name == "venv"):
            try:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
            except OSError as fault:
                raise OverlayError(f"{fault.filename or path}: {fault.strerror}") from fault
        return items


@contextmanager
def _nothing_runs(workspace: Workspace) -> Iterator[None]:
    """Hold every other lock there is; the files stay, for whoever waits holds them open."""
    with ExitStack() as stack:
        for path in sorted(workspace.work.glob("*.lock")):
            stream = stack.enter_context(path.open("a"))
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise OverlayError(f"{path}: is held by a run: wait for its end") from None
        yield


def _paths(workspace: Workspace) -> list[Path]:
    if not workspace.work.exists():
        return []
    return [
        path
        for path in sorted(workspace.work.iterdir())
        if path.name != "lock" and path.suffix != ".lock"
    ]


def _size(path: Path) -> int:
    """Bytes on the disk; a file with several names counts once."""
    seen: set[tuple[int, int]] = set()
    total = 0
    for folder, _, files in os.walk(path):
        for name in files:
            status = (Path(folder) / name).lstat()
            if (status.st_dev, status.st_ino) not in seen:
                seen.add((status.st_dev, status.st_ino))
                total += status.st_blocks * 512
    return total or path.lstat().st_size
