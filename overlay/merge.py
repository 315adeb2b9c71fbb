# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Merging a patch into files that have changed: three ways, through git."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess

from overlay.diff import FilePatch
from overlay.git import Git
from overlay.match import File

_OURS = "7f3a-ours"  # labels that no source has after a conflict marker
_THEIRS = "7f3a-theirs"
_CONFLICTS = 127  # the most that git counts; more is an error of its own


@dataclass(frozen=True)
class Clash:
    """A place where both sides changed the same lines: its line in the new version's file."""

    path: str
    line: int
    reason: str


@dataclass(frozen=True)
class Merged:
    """What a patch makes of the tree by a merge, and where it clashes.

    At a clash the changes hold the patch's lines. `moved` says which paths were found elsewhere.
    """

    changes: dict[str, File | None]
    clashes: tuple[Clash, ...]
    moved: dict[str, str]


def moves(git: Git, base: str, other: str) -> dict[str, str]:
    """Where a commit has the files of another one that are at a new path there."""
    command = ("diff-tree", "-r", "-z", "-M", "-l0", "--diff-filter=R", "--name-status")
    parts = git.run(*command, base, other).decode(errors="surrogateescape").split("\0")[:-1]
    return dict(zip(parts[1::3], parts[2::3], strict=True))


def merge_patch(
    git: Git,
    files: tuple[FilePatch, ...],
    base: Mapping[str, File],
    theirs: Mapping[str, File | None],
    ours: Mapping[str, File],
    moves: Mapping[str, str],
) -> Merged:
    """Merge what a patch made of `base` (which is `theirs`) into `ours`, a newer version's files.

    `moves` says where the newer version has a file that is gone from its old path.
    """
    changes: dict[str, File | None] = {}
    clashes: list[Clash] = []
    moved: dict[str, str] = {}
    for patch in files:
        path = patch.path
        if path not in ours and path in moves and patch.status == "M":
            moved[path] = path = moves[path]
        there, wanted = ours.get(path), theirs[patch.path]
        if there == wanted:
            continue  # in the tree already
        if patch.status == "A" and there is None:
            changes[path] = wanted
        elif patch.status == "A":
            clashes.append(Clash(path, 1, "is a new file of the patch, and is there already"))
            changes[path] = wanted
        elif there is None:
            clashes.append(Clash(path, 0, "there is no such file any more"))
        elif there == base[patch.path]:
            changes[path] = wanted  # nothing to merge with
        elif wanted is None:
            clashes.append(Clash(path, 1, "is deleted by the patch, and has changed"))
            changes[path] = None
        else:
            data, lines = _merge(git, there.data, base[patch.path].data, wanted.data)
            mode = patch.new_mode or there.mode
            if (mode, data) != (there.mode, there.data):
                changes[path] = File(mode, data)
            if lines:
                more = f" and {len(lines) - 1} more place{'s' * (len(lines) > 2)}"
                where = f"has changed here{more if lines[1:] else ''}"
                clashes.append(Clash(path, lines[0], where))
    return Merged(changes, tuple(clashes), moved)


def merge_file(git: Git, sides: Sequence[bytes], *options: str) -> CompletedProcess[bytes]:
    """Merge ours, base and theirs; the exit code is 0 when that leaves no conflict.

    What git does not merge, as it is not text, comes out as theirs.
    """
    with tempfile.TemporaryDirectory(prefix="overlay-") as name:
        paths = [Path(name) / side for side in ("ours", "base", "theirs")]
        for path, data in zip(paths, sides, strict=True):
            path.write_bytes(data)
        result = git.result("merge-file", "-p", "-q", *options, *(str(path) for path in paths))
    if result.returncode > _CONFLICTS:
        result.stdout = sides[2]
    return result


def _merge(git: Git, ours: bytes, base: bytes, theirs: bytes) -> tuple[bytes, list[int]]:
    """The merged bytes, with the patch's lines at clashes, and the lines of `ours` that clash."""
    sides = (ours, base, theirs)
    result = merge_file(git, sides, "-L", _OURS, "-L", "base", "-L", _THEIRS)
    if not result.returncode:
        return result.stdout, []
    resolved = merge_file(git, sides, "--theirs")
    return resolved.stdout, _clash_lines(result.stdout) or [1]


def _clash_lines(merged: bytes) -> list[int]:
    result = []
    line = 1
    counts = True
    for text in merged.split(b"\n"):
        if text == b"<<<<<<< " + _OURS.encode():
            result.append(line)
        elif result and text.rstrip(b"\r") == b"=======" and counts:
            counts = False
        elif text == b">>>>>>> " + _THEIRS.encode():
            counts = True
        elif counts:
            line += 1
    return result
