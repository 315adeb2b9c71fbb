# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Running git so that only this project decides what it does."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from overlay.errors import OverlayError, UsageError

IDENTITY = "ternary-vllm overlay <overlay@ternary-vllm.invalid>"

# A line end, a signature or a hook of the user's must not get into the tree or the patches.
_SETTINGS = {
    "core.attributesFile": "/dev/null",
    "core.autocrlf": "false",
    "core.excludesFile": "/dev/null",
    "core.fileMode": "true",
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.quotePath": "false",
    "core.safecrlf": "false",
    "gc.auto": "0",
    "safe.directory": "*",
}


def environment() -> dict[str, str]:
    """The environment git runs in: nothing of the user's configuration, one language, one identity."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    env.update(
        GIT_CONFIG_GLOBAL="/dev/null",
        GIT_CONFIG_NOSYSTEM="1",
        GIT_ATTR_NOSYSTEM="1",
        GIT_TERMINAL_PROMPT="0",
        GIT_OPTIONAL_LOCKS="0",
        LC_ALL="C",
        TZ="UTC",
    )
    return env


@dataclass(frozen=True)
class Git:
    """Git on one repository with one work tree, both given: git never looks for another one above."""

    tree: Path

    @property
    def dir(self) -> Path:
        """The repository's .git folder."""
        return self.tree / ".git"

    def run(self, *args: str, data: bytes | None = None) -> bytes:
        """Run a git command and return what it prints.

        Raises OverlayError with the command and git's own words when it fails.
        """
        result = self.result(*args, data=data)
        if result.returncode:
            words = " ".join(result.stderr.decode(errors="replace").split())
            raise OverlayError(f"git {args[0]} failed in {self.tree}: {words or result.returncode}")
        return result.stdout

    def text(self, *args: str) -> str:
        """`run` for output that is text; surrounding blanks are cut."""
        return self.run(*args).decode(errors="surrogateescape").strip()

    def result(self, *args: str, data: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
        """Run a git command whose exit status means something."""
        command = ["git", f"--git-dir={self.dir}", f"--work-tree={self.tree}"]
        for key, value in _SETTINGS.items():
            command += ["-c", f"{key}={value}"]
        try:
            return subprocess.run(
                [*command, *args], input=data or b"", capture_output=True, env=environment(),
                cwd=self.tree,
            )
        except FileNotFoundError as fault:
            raise missing(self.tree) from fault

    def resolve(self, name: str) -> str | None:
        """The object id a name stands for, or None when there is no such name."""
        result = self.result("rev-parse", "--verify", "--quiet", name)
        return result.stdout.decode().strip() if result.returncode == 0 else None


def missing(folder: Path) -> UsageError:
    """The error for a FileNotFoundError of a git command run in `folder`."""
    if folder.is_dir():
        return UsageError("git is not on PATH: install git (Debian, Ubuntu: apt install git)")
    return UsageError(f"{folder}: no such folder")
