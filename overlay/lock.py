# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""One run at a time on a workspace, a build folder or a cache."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from overlay.errors import OverlayError
from overlay.files import no_space_is_an_error
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
        with no_space_is_an_error(workspace.work):
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
            whom = f"another {what} (process {holder})"
            if holder.isdecimal() and not Path("/proc", holder).exists():
                whom = f"what an interrupted {what} started and still runs"
            print(f"Waiting for {whom} ...", file=sys.stderr, flush=True)
            fcntl.flock(stream, fcntl.LOCK_EX)
        with suppress(OSError):  # for the waiting alone: a full disk is for others to report
            os.truncate(stream.fileno(), 0)
            os.write(stream.fileno(), b"%d\n" % os.getpid())
        _held.append(stream.fileno())
        try:
            yield
        finally:
            _held.remove(stream.fileno())
