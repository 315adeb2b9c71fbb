# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Running other programs: one kind of error when they fail, with what they said last."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from overlay.errors import OverlayError
from overlay.lock import held

_TAIL_LINES = 40
_PATIENCE = 10.0  # seconds that an interrupted program has to end what it started


class CommandError(OverlayError):
    """A program failed: the command, its exit code, and the end of its output, indented."""

    def __init__(self, what: str, command: Sequence[str], code: int, output: str) -> None:
        tail = output.rstrip().splitlines()[-_TAIL_LINES:]
        lines = [f"{what} failed with exit code {code}", f"  command: {shlex.join(command)}"]
        super().__init__("\n".join(lines + [f"    {line}" for line in tail]))


class Terminated(KeyboardInterrupt):
    """A Ctrl-C that the programs waited for know nothing of: SIGTERM reached this process alone."""


def terminated(number: int, frame: FrameType | None) -> NoReturn:
    """A handler of SIGTERM: raises Terminated."""
    raise Terminated


def complete(
    command: Sequence[str | os.PathLike[str]], data: bytes | None = None, **options: Any
) -> subprocess.CompletedProcess[Any]:
    """`subprocess.run`, with `data` as input, which lets a program that is interrupted end.

    `subprocess.run` kills it at once. A ninja that is killed does not end its compilers, which a
    terminal's Ctrl-C does not reach: they would run on, and hold the lock they have inherited.
    """
    with subprocess.Popen(command, **options) as child:
        try:
            output, errors = child.communicate(data)
        except Terminated:
            child.terminate()
            _end(child)
            raise
        except KeyboardInterrupt:
            _end(child)
            raise
    return subprocess.CompletedProcess(command, child.returncode, output, errors)


def _end(child: subprocess.Popen[Any]) -> None:
    """Wait for a program that was interrupted as well; ask it to end, then make it."""
    for insist in (child.terminate, child.kill):
        with suppress(subprocess.TimeoutExpired, KeyboardInterrupt):  # Ctrl-C again: go on
            child.wait(_PATIENCE)
            return
        insist()
    child.wait()


def run(
    command: Sequence[str | os.PathLike[str]],
    what: str,
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    show: bool = False,
) -> str:
    """Run a program and return its output (standard error included).

    With `show`, its output goes to the terminal instead, as it comes. Raises CommandError, opened
    by `what`, when it fails, and OverlayError when it cannot be started.
    """
    words = [os.fspath(word) for word in command]
    try:
        result = complete(
            words,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=None if show else subprocess.PIPE,
            stderr=None if show else subprocess.STDOUT,
            text=True,
            errors="replace",
            pass_fds=held(),
        )
    except OSError as fault:
        raise OverlayError(f"{what}: cannot run {words[0]}: {fault.strerror}") from fault
    if result.returncode:
        raise CommandError(what, words, result.returncode, result.stdout or "")
    return result.stdout or ""
