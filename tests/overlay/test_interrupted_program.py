# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Ctrl-C ends the program that is waited for, and what that started; no lock is held any more."""

import fcntl
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from overlay import extension, process
from overlay.lock import alone


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """What a program of these tests reads until it is ended."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def _interrupt(command: Sequence[str | Path], pipe: Path) -> None:
    """Run it as a terminal's foreground, and press Ctrl-C when the pipe is read."""
    lock, waiting = pipe.with_name("lock"), pipe.with_name("waiting")
    os.mkfifo(waiting)

    class Popen(subprocess.Popen[str]):
        def communicate(self, *args: Any, **options: Any) -> tuple[str, str]:
            waiting.write_text("for the program\n")
            return super().communicate(*args, **options)

    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        subprocess.Popen = Popen  # type: ignore[misc]
        code = 1
        try:
            with alone(lock, "build"):
                process.run(command, "compiling")
        except KeyboardInterrupt:
            code = 130
        finally:
            os._exit(code)
    waiting.read_text()
    with pipe.open("wb", buffering=0) as stream:
        os.killpg(child, signal.SIGINT)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 130
        with pytest.raises(BrokenPipeError):  # nobody reads it
            stream.write(b"x")
    with lock.open("a") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_compiler_of_ninja(pipe: Path) -> None:
    """Ninja's jobs are no part of the terminal's foreground: only ninja can end them."""
    rules = f"rule compile\n  command = exec cat {pipe}\nbuild all: compile\n"
    pipe.with_name("build.ninja").write_text(rules)
    _interrupt([extension._program("ninja"), "-C", pipe.parent], pipe)


@pytest.mark.parametrize("signals", ["INT", "INT TERM"])
def test_program_that_takes_no_notice(
    signals: str, pipe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_PATIENCE", 0.0)
    _interrupt(["sh", "-c", f"trap '' {signals}; exec cat {pipe}"], pipe)
