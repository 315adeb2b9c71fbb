# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Running other programs: one kind of error when they fail, with what they said last."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from overlay.errors import OverlayError
from overlay.lock import held

_TAIL_LINES = 40


class CommandError(OverlayError):
    """A program failed: the command, its exit code, and the end of its output, indented."""

    def __init__(self, what: str, command: Sequence[str], code: int, output: str) -> None:
        tail = output.rstrip().splitlines()[-_TAIL_LINES:]
        lines = [f"{what} failed with exit code {code}", f"  command: {shlex.join(command)}"]
        super().__init__("\n".join(lines + [f"    {line}" for line in tail]))


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
        result = subprocess.run(
            words,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=None if show else subprocess.PIPE,
            stderr=None if show else subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
            pass_fds=held(),
        )
    except OSError as fault:
        raise OverlayError(f"{what}: cannot run {words[0]}: {fault.strerror}") from fault
    if result.returncode:
        raise CommandError(what, words, result.returncode, result.stdout or "")
    return result.stdout or ""
