# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""One run at a time on a workspace, a build folder or a cache."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from overlay.errors import OverlayError
from overlay.paths import Workspace

_held: list[int] = []


def held() -> tuple[int, ...]:
    """The locks' descriptors, for a program that is started meanwhile to inherit.

    A kill ends this process, not the git or the compiler it waits for: with these the lock is held
    until that has ended as well, and the next run does not write beside it.
    """
    return tuple(_held)


@contextmanager
def locked(workspace: Workspace) -> Iterator[None]:
    """Hold the workspace; a second run waits and says for whom."""
    try:
        workspace.work.mkdir(exist_ok=True)
        (workspace.work / "lock").open("a").close()
    except OSError as fault:
        raise OverlayError(
            f"{fault.filename}: {fault.strerror}: .work has to be writable"
        ) from fault
    with alone(workspace.work / "lock", "run"):
        yield


@contextmanager
def alone(path: Path, what: str) -> Iterator[None]:
    """Hold the lock file `path`; whoever comes second waits, and says for another `what`.

    The lock is the kernel's: it goes with its process and those that it started, however they end.
    """
    with path.open("a+") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            stream.seek(0)
            holder = stream.read().strip() or "?"
            print(f"Waiting for another {what} (process {holder}) ...", file=sys.stderr, flush=True)
            fcntl.flock(stream, fcntl.LOCK_EX)
        stream.seek(0)
        stream.truncate()
        stream.write(f"{os.getpid()}\n")
        stream.flush()
        _held.append(stream.fileno())
        try:
            yield
        finally:
            _held.remove(stream.fileno())
