# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Bringing the private tree's files to a commit, whatever state git's index is in."""

from __future__ import annotations

from overlay.errors import OverlayError
from overlay.git import Git
from overlay.source import BRANCH

_LOCKS = ("index.lock", "HEAD.lock", f"{BRANCH}.lock")


def lay(git: Git, commit: str) -> None:
    """Make files and index those of `commit`; changes that no commit holds are lost."""
    git.run("read-tree", "--reset", "-u", commit)


def lay_again(git: Git, commit: str) -> None:
    """End a `lay` that was killed.

    Raises OverlayError naming a file that someone changed since, and leaves it alone.
    """
    unlock(git)
    git.result("update-index", "-q", "--refresh")
    changed = _names(git.run("diff-files", "-z", "--name-only"))
    unknown = _names(git.run("ls-files", "-z", "--others", "--exclude-standard"))
    wanted = git.blobs(commit, [*changed, *unknown])
    for path in [*changed, *unknown]:
        file = git.tree / path
        if not file.is_file() or (path in unknown and wanted[path] is None):
            continue
        # What git was killed in the middle of writing is the beginning of what it wrote.
        if not (wanted[path] or b"").startswith(file.read_bytes()):
            raise OverlayError(
                f"{file}: was changed after an interrupted run: move it away, then again"
            )
    lay(git, commit)


def unlock(git: Git) -> None:
    """Remove the locks of a git that was killed."""
    for name in _LOCKS:
        (git.dir / name).unlink(missing_ok=True)


def _names(output: bytes) -> list[str]:
    return sorted({name.decode(errors="surrogateescape") for name in output.split(b"\0") if name})
