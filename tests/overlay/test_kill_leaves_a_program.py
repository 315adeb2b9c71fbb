# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A program that outlives the killed run that started it keeps the lock: the next run waits."""

import fcntl
import os
import signal

import pytest
from small_project import Project

from overlay import process
from overlay.git import Git
from overlay.lock import locked


@pytest.mark.parametrize("program", ["git", "compiler"])
def test_lock_is_held_until_it_ends(project: Project, program: str) -> None:
    project.apply_nothing()
    pipe = project.root / "pipe"
    os.mkfifo(pipe)
    child = os.fork()
    if child == 0:
        with locked(project.workspace):
            if program == "git":
                Git(project.tree).run("hash-object", "--no-filters", str(pipe))
            else:
                process.run(["cat", pipe], "compiling")
        os._exit(1)
    with pipe.open("wb"):  # the program reads it now
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        lock = (project.workspace.work / "lock").open("a")
        with pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.flock(lock, fcntl.LOCK_EX)
    lock.close()
    project.apply()
