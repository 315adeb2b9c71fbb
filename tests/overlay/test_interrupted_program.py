# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Ctrl-C ends the program that is waited for, and what that started; no lock is held any more.

So does SIGTERM, which reaches build.sh's process alone.
"""

import fcntl
import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from overlay import compiler, extension, process
from overlay.lock import alone


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """What a program of these tests reads until it is ended."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


@pytest.fixture
def ninja(pipe: Path) -> list[str | Path]:
    """A ninja whose one job reads the pipe."""
    rules = f"rule compile\n  command = exec cat {pipe}\nbuild all: compile\n"
    pipe.with_name("build.ninja").write_text(rules)
    return [extension._program("ninja"), "-C", pipe.parent]


def _stop(run: Callable[[], int], pipe: Path, send: Callable[[int], None]) -> int:
    """The exit code of a process that is sent a signal once its program reads the pipe."""
    lock, waiting = pipe.with_name("lock"), pipe.with_name("waiting")
    os.mkfifo(waiting)

    class Popen(subprocess.Popen[str]):
        def communicate(self, *args: Any, **options: Any) -> tuple[str, str]:
            waiting.write_text("for the program\n")
            return super().communicate(*args, **options)

    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        subprocess.Popen = Popen  # type: ignore[misc]
        code = 1
        try:
            with alone(lock, "build"):
                code = run()
        finally:
            os._exit(code)
    waiting.read_text()
    with pipe.open("wb", buffering=0) as stream:
        send(child)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        with pytest.raises(BrokenPipeError):  # nobody reads it
            stream.write(b"x")
    with lock.open("a") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return code


def _interrupt(command: Sequence[str | Path], pipe: Path) -> None:
    """Run it as a terminal's foreground, and press Ctrl-C when the pipe is read."""

    def run() -> int:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            process.run(command, "compiling")
        except KeyboardInterrupt:
            return 130
        return 1

    assert _stop(run, pipe, lambda child: os.killpg(child, signal.SIGINT)) == 130


def test_compiler_of_ninja(ninja: list[str | Path], pipe: Path) -> None:
    """Ninja's jobs are no part of the terminal's foreground: only ninja can end them."""
    _interrupt(ninja, pipe)


@pytest.mark.parametrize("signals", ["INT", "INT TERM"])
def test_program_that_takes_no_notice(
    signals: str, pipe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_PATIENCE", 0.0)
    _interrupt(["sh", "-c", f"trap '' {signals}; exec cat {pipe}"], pipe)


def test_sigterm_to_build(
    ninja: list[str | Path],
    pipe: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(compiler, "check_machine", lambda: process.run(ninja, "compiling"))
    monkeypatch.setattr(sys, "argv", ["build.sh"])
    monkeypatch.delitem(sys.modules, "overlay.build", raising=False)

    def run() -> int:
        try:
            runpy.run_module("overlay.build", run_name="__main__")
        except SystemExit as end:
            return int(end.code or 0)
        return 1

    assert _stop(run, pipe, lambda child: os.kill(child, signal.SIGTERM)) == 143
    assert "error: terminated\n" in capfd.readouterr().err
