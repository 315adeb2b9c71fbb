# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""One run at a time on a workspace."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from overlay.errors import OverlayError
from overlay.paths import Workspace


@contextmanager
def locked(workspace: Workspace) -> Iterator[None]:
    """Hold the workspace; a second run waits and says for whom.

    The lock is the kernel's: it goes with its process, however that ends.
    """
    path = workspace.work / "lock"
    try:
        workspace.work.mkdir(exist_ok=True)
        stream = path.open("a+")
    except OSError as fault:
        raise OverlayError(
            f"{fault.filename}: {fault.strerror}: .work has to be writable"
        ) from fault
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            stream.seek(0)
            holder = stream.read().strip() or "?"
            print(f"Waiting for another run (process {holder}) ...", file=sys.stderr, flush=True)
            fcntl.flock(stream, fcntl.LOCK_EX)
        stream.seek(0)
        stream.truncate()
        stream.write(f"{os.getpid()}\n")
        stream.flush()
        yield
