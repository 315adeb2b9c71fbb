# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Killing a run at a chosen moment: a child process that SIGKILL ends at its nth traced line."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

TRACED = ("store.py", "swap.py", "git.py", "files.py", "export.py", "source.py")


def killed_at(moment: int, work: Callable[[], object]) -> bool:
    """Run `work` in a child killed at its nth line in the traced modules.

    Returns False when the work ended before that moment.
    """
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        _work_until(moment, work)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0
    return False


def moments(limit: int, work: Callable[[], object], reset: Callable[[], None]) -> Iterator[int]:
    """About `limit` moments spread over the whole of `work`; `reset` undoes a try."""
    last = 1
    while killed_at(last, work):
        last *= 2
        reset()
    reset()
    yield from range(1, last, max(last // limit, 1))


def _work_until(moment: int, work: Callable[[], object]) -> None:
    lines = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal lines
        if not frame.f_code.co_filename.endswith(TRACED):
            return None
        if event == "line":
            lines += 1
            if lines == moment:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    code = 1
    try:
        sys.settrace(trace)
        work()
        code = 0
    except BaseException:
        sys.settrace(None)
        traceback.print_exc()
    finally:
        os._exit(code)
