# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Running git so that only this project decides what it does."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from overlay import process
from overlay.errors import OverlayError, UsageError
from overlay.lock import held

IDENTITY = "ternary-vllm overlay <overlay@ternary-vllm.invalid>"
DATE = "1767225600 +0000"  # of every commit that names no day of its own: 2026-01-01

# The private repository's own configuration, for the git commands that a person runs in it.
_CONFIG = """\
[core]
\trepositoryformatversion = 0
\tbare = false
\tfileMode = true
\tlogAllRefUpdates = true
\tautocrlf = false
\teol = lf
\tcompression = 1
[gc]
\tauto = 0
"""
_NOBODY = """\
[user]
\tname = ternary-vllm overlay
\temail = overlay@ternary-vllm.invalid
"""
_NO_SPACE = 1 << 20  # bytes free, below which a failure is the disk's
# Goes before the source's own .gitattributes: files are stored and written as they are.
_ATTRIBUTES = "* -text -ident -filter -working-tree-encoding !diff\n"

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
    """The environment git runs in: nothing of the user's configuration, and one language."""
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
    """Git on one repository and work tree, both given: git never looks for another one above."""

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
            raise self._failed(args[0], result.stderr, result.returncode)
        return result.stdout

    def text(self, *args: str) -> str:
        """`run` for output that is text; surrounding blanks are cut."""
        return self.run(*args).decode(errors="surrogateescape").strip()

    def result(self, *args: str, data: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
        """Run a git command whose exit status means something."""
        try:
            return process.complete(
                [*self._command(), *args],
                data or b"",
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment(),
                cwd=self.tree,
                pass_fds=held(),
            )
        except FileNotFoundError as fault:
            raise missing(self.tree) from fault

    def resolve(self, name: str) -> str | None:
        """The object id a name stands for, or None when there is no such name."""
        result = self.result("rev-parse", "--verify", "--quiet", name)
        return result.stdout.decode().strip() if result.returncode == 0 else None

    def files(self, commit: str) -> dict[str, tuple[str, str]]:
        """Mode and object id of every file of a commit, by path."""
        result = {}
        for line in self.run("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")[:-1]:
            fields, _, name = line.partition(b"\t")
            mode, _, blob = fields.decode().split(" ")
            result[name.decode(errors="surrogateescape")] = mode, blob
        return result

    def blob(self, commit: str, path: str) -> bytes | None:
        """A file's bytes in a commit, or None when it has no such file."""
        result = self.result("cat-file", "blob", f"{commit}:{path}")
        return result.stdout if result.returncode == 0 else None

    def blobs(self, commit: str, paths: Sequence[str]) -> dict[str, bytes | None]:
        """`blob` for many files at once."""
        names = "".join(f"{commit}:{path}\n" for path in paths)
        data = self.run("cat-file", "--batch", data=names.encode(errors="surrogateescape"))
        result: dict[str, bytes | None] = {}
        position = 0
        for path in paths:
            end = data.index(b"\n", position)
            fields = data[position:end].split(b" ")
            position = end + 1
            result[path] = None
            if fields[-1] != b"missing":
                size = int(fields[-1])
                if fields[-2] == b"blob":
                    result[path] = data[position : position + size]
                position += size + 1
        return result

    def delete(self, *references: str) -> None:
        """Delete references, those that are not there too.

        Git locks the file of packed references for it, as it does for a person's own commands:
        a mark beside it says that the lock is ours, should git be killed.
        """
        self._deleting.touch()
        try:
            for reference in references:
                self.run("update-ref", "-d", reference)
        finally:
            self._deleting.unlink()

    def end_delete(self) -> None:
        """Take away the lock that a killed `delete` left; the caller holds the workspace's lock."""
        if self._deleting.exists():
            (self.dir / "packed-refs.lock").unlink(missing_ok=True)
            self._deleting.unlink()

    @property
    def _deleting(self) -> Path:
        return self.dir / "overlay" / "deleting"

    def _command(self) -> list[str]:
        command = ["git", f"--git-dir={self.dir}", f"--work-tree={self.tree}"]
        for key, value in _SETTINGS.items():
            command += ["-c", f"{key}={value}"]
        return command

    def init(self) -> None:
        """Make an empty repository on branch main; the folder exists."""
        self.run("init", "--quiet", "--template=")
        (self.dir / "HEAD").write_text("ref: refs/heads/main\n")
        self.configure()
        (self.dir / "info").mkdir(exist_ok=True)
        (self.dir / "info" / "attributes").write_text(_ATTRIBUTES)
        (self.dir / "overlay").mkdir()

    def configure(self) -> None:
        """Write the repository's own configuration.

        It names somebody to commit as only if git would refuse to commit without: it would beat
        the user's own.
        """
        config = self.dir / "config"
        config.write_text(_CONFIG)
        ask = ["git", f"--git-dir={self.dir}", "var", "GIT_COMMITTER_IDENT"]
        if subprocess.run(ask, capture_output=True, pass_fds=held()).returncode:
            config.write_text(_CONFIG + _NOBODY)

    def commit_tree(
        self,
        tree: str,
        message: str,
        parents: Sequence[str] = (),
        author: str = f"{IDENTITY} {DATE}",
    ) -> str:
        """Make a commit, the same one each time; return its id. `author` is person and date."""
        date = author.rpartition("> ")[2]
        lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
        lines += [f"author {author}", f"committer {IDENTITY} {date}"]
        data = "\n".join([*lines, "", message]).encode()
        return self.run("hash-object", "-t", "commit", "-w", "--stdin", data=data).decode().strip()

    @contextmanager
    def fast_import(self, *options: str) -> Iterator[IO[bytes]]:
        """A stream for `git fast-import`; the block has to end it with `done`.

        Raises OverlayError with git's own words when git refuses the stream.
        """
        command = [*self._command(), "fast-import", "--quiet", "--force", "--done", *options]
        with tempfile.TemporaryFile() as words:
            importer = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=words,
                env=environment(),
                cwd=self.tree,
                pass_fds=held(),
            )
            assert importer.stdin is not None
            try:
                with contextlib.suppress(BrokenPipeError):
                    yield importer.stdin
            finally:
                with contextlib.suppress(BrokenPipeError):
                    importer.stdin.close()
                status = importer.wait()
            if status:
                words.seek(0)
                raise self._failed("fast-import", words.read(), status)

    def _failed(self, command: str, stderr: bytes, status: int) -> OverlayError:
        """The error for a command that failed: the first of git's lines, or the full disk."""
        if shutil.disk_usage(self.tree).free < _NO_SPACE:
            return OverlayError(f"no space left on the disk of {self.tree}: make room there")
        lines = [line.strip() for line in stderr.decode(errors="replace").splitlines()]
        faults = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines
        words = faults[0] if faults else f"exit status {status}"
        return OverlayError(f"git {command} failed in {self.tree}: {words}")


def missing(folder: Path) -> UsageError:
    """The error for a FileNotFoundError of a git command run in `folder`."""
    if folder.is_dir():
        return UsageError("git is not on PATH: install git (Debian, Ubuntu: apt install git)")
    return UsageError(f"{folder}: no such folder")
