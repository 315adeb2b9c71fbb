# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Patches to commits: each patch laid over the one before in memory, then all stored at once."""

from __future__ import annotations

import re
from calendar import timegm
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from time import strptime

from overlay.git import DATE, IDENTITY, Git
from overlay.header import to_message
from overlay.match import Applied, File, apply_patch
from overlay.patchfile import Patch

_NEXT = "refs/overlay/next"
Changes = Mapping[str, File | None]  # a path's new file, or None where it is deleted

_PERSON = re.compile(r"[^<>\n\0]+ <[^<>\s\0]+>")


@dataclass(frozen=True)
class Built:
    """A patch's commit, which no branch holds yet, and what was found when it was laid."""

    patch: Patch
    commit: str
    applied: Applied


def load(
    git: Git, commit: str, patches: Sequence[Patch], more: Collection[str] = ()
) -> dict[str, File]:
    """The commit's files by path; those that a patch touches, and `more`, come with their bytes."""
    touched = {file.path for patch in patches for file in patch.files}.union(more)
    found = git.files(commit)
    plain = [path for path in touched if path in found and found[path][0].startswith("100")]
    data = git.blobs(commit, plain)
    return {path: File(mode, data.get(path) or b"") for path, (mode, _) in found.items()}


def lay(patches: Sequence[Patch], tree: Mapping[str, File]) -> list[Applied]:
    """Lay the patches one on the other in memory.

    Raises OverlayError naming the first that does not fit; nothing has been written then.
    """
    state = dict(tree)
    return [lay_one(patch, state) for patch in patches]


def lay_one(patch: Patch, tree: dict[str, File]) -> Applied:
    """Lay a patch over `tree`, which changes; raises OverlayError when it does not fit."""
    applied = apply_patch(patch.file, patch.files, tree)
    put(tree, applied.changes)
    return applied


def put(tree: dict[str, File], changes: Changes) -> None:
    """Make changes in a tree."""
    for path, file in changes.items():
        if file is None:
            tree.pop(path, None)
        else:
            tree[path] = file


def build(git: Git, base: str, patches: Sequence[Patch]) -> list[Built]:
    """Store one commit a patch on top of `base`; the same patches give the same commits."""
    if not patches:
        return []
    laid = lay(patches, load(git, base, patches))
    changes = [(patch, applied.changes) for patch, applied in zip(patches, laid, strict=True)]
    ids = store(git, base, changes)
    return [Built(*item) for item in zip(patches, ids, laid, strict=True)]


def store(git: Git, base: str, changes: Sequence[tuple[Patch, Changes]]) -> list[str]:
    """Store one commit for each patch and what it makes of files, on top of `base`."""
    marks = git.dir / "overlay" / "marks"
    with git.fast_import("--date-format=raw", f"--export-marks={marks}") as stream:
        for number, (patch, changed) in enumerate(changes, 1):
            parent = base if number == 1 else f":{number - 1}"
            stream.write(_commit(number, parent, patch, changed))
        stream.write(b"done\n")
    ids = dict(line.split() for line in marks.read_text().splitlines())
    marks.unlink()
    return [ids[f":{number}"] for number in range(1, len(changes) + 1)]


def _commit(number: int, parent: str, patch: Patch, changes: Changes) -> bytes:
    author, date = author_of(patch)
    message = to_message(patch.topic, patch.header).encode()
    parts = [
        f"commit {_NEXT}\nmark :{number}\nauthor {author} {date}\n"
        f"committer {IDENTITY} {date}\ndata {len(message)}\n".encode(),
        message,
        f"\nfrom {parent}\n".encode(),
    ]
    for path, file in changes.items():
        if file is None:
            parts.append(f"D {path}\n".encode())
        else:
            parts.append(f"M {file.mode} inline {path}\ndata {len(file.data)}\n".encode())
            parts += [file.data, b"\n"]
    return b"".join(parts)


def author_of(patch: Patch) -> tuple[str, str]:
    """Author and date (as git's raw format has it) of a patch's commit, from its header."""
    author = patch.header.fields.get("Author", "")
    try:
        day = timegm(strptime(patch.header.fields.get("Last-Update", ""), "%Y-%m-%d"))
    except ValueError:
        return author if _PERSON.fullmatch(author) else IDENTITY, DATE
    return author if _PERSON.fullmatch(author) else IDENTITY, f"{day} +0000"
