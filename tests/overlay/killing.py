# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Killing a run at a chosen moment: a child process that SIGKILL ends.

Two kinds of moments: before the nth call that changes a file or starts a program, where only the
tool dies and a program that it started lives on; and after a part of the time a run takes, where
the programs it started die too, in the middle of what they write.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

# What was killed, by the name of the test: printed at the end of a test run.
KILLS: Counter[str] = Counter()

# Functions that change a folder or a file, or start a program that does.
_FUNCTIONS = frozenset(
    (
        "chmod", "flock", "fork_exec", "mkdir", "open", "rename", "replace", "rmdir", "sendfile",
        "symlink", "truncate", "unlink", "write",
    )
)  # fmt: skip
# Methods of an open file that write, if only what is buffered.
_METHODS = frozenset(("__exit__", "close", "truncate", "write"))


def kills(
    test: str, work: Callable[[], object], reset: Callable[[], None], calls: int, times: int
) -> Iterator[str]:
    """Kill `work` at about `calls` of its changing calls and after `times` parts of its time.

    Each moment is yielded, in words, after the kill; `reset` undoes a try. `work` may have ended
    before the kill came: what is there then is the work's result.
    """
    start = time.monotonic()
    last = _ended(lambda: _count(work))
    duration = time.monotonic() - start
    reset()
    for moment in {1 + number * last // calls for number in range(min(calls, last))}:
        KILLS[test] += _ended(lambda moment=moment: _until_call(moment, work)) == -signal.SIGKILL
        yield f"call {moment} of {last}"
        reset()
    for number in range(1, times + 1):
        seconds = duration * number / times
        KILLS[test] += _ended(lambda s=seconds: _until_time(s, work)) == -signal.SIGKILL
        yield f"after {seconds:.4f} s"
        reset()


def resetting(folder: Path, kept: Path) -> Callable[[], None]:
    """What brings `folder` back to what it is now, of which a copy goes to `kept`."""
    shutil.copytree(folder, kept)

    def reset() -> None:
        shutil.rmtree(folder)
        shutil.copytree(kept, folder)

    return reset


def _ended(work: Callable[[], int]) -> int:
    """Run `work` in a child: the number it returns (up to 4 digits), or the signal, negative."""
    sys.stdout.flush()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.write(write, b"%d" % work())
            code = 0
        except BaseException:
            sys.setprofile(None)
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(write)
    with os.fdopen(read) as stream:
        text = stream.read()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return -os.WTERMSIG(status)
    assert os.WEXITSTATUS(status) == 0
    return int(text)


def _changes(frame: FrameType, event: str, called: Any) -> bool:
    if event != "c_call":
        return False
    if frame.f_code.co_filename.endswith("subprocess.py"):  # the rest is pipes
        return called.__name__ == "fork_exec"
    owner = called.__self__
    if isinstance(owner, ModuleType):
        reads = str(frame.f_locals.get("mode", "w")).startswith("r")
        return called.__name__ in _FUNCTIONS and not (called.__name__ == "open" and reads)
    if called.__name__ not in _METHODS or not hasattr(owner, "writable"):
        return False
    return not owner.closed and bool(owner.writable())


def _count(work: Callable[[], object]) -> int:
    """How many changing calls the work makes."""
    count = 0

    def profile(frame: FrameType, event: str, called: Any) -> None:
        nonlocal count
        count += _changes(frame, event, called)

    sys.setprofile(profile)
    work()
    sys.setprofile(None)
    return count


def _until_call(moment: int, work: Callable[[], object]) -> int:
    """Work until the nth changing call."""
    count = 0

    def profile(frame: FrameType, event: str, called: Any) -> None:
        nonlocal count
        if _changes(frame, event, called):
            count += 1
            if count == moment:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(profile)
    work()
    return 0


def _until_time(seconds: float, work: Callable[[], object]) -> int:
    """Work until the time is over; all programs that were started die with it."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(0, signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, seconds)
    work()
    signal.setitimer(signal.ITIMER_REAL, 0)
    return 0
