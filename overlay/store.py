# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What the private repository remembers, and moving its branch so that a kill does no harm.

`record` says which patches stand in which commits. Moving the branch is journaled: the journal is
written before the branch's one update and removed when the work tree has followed. Whoever finds a
journal goes forward when the branch had moved, and back when it had not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from overlay.errors import OverlayError
from overlay.files import require_space, whole_file
from overlay.git import Git
from overlay.source import BRANCH

APPLIED = "refs/overlay/applied"
_BLOCK = 4096  # bytes of a disk that a file's end may take
_MARGIN = 1 << 17  # for journal, record, references and folders
_LOCKS = ("index.lock", "HEAD.lock", f"{BRANCH}.lock", f"{APPLIED}.lock")


@dataclass(frozen=True)
class Entry:
    """A patch that stands in a commit: its file's name and hash as they were then."""

    file: str
    sha256: str
    commit: str


@dataclass(frozen=True)
class Record:
    """Where the branch was left, and the patches in it."""

    head: str
    patches: tuple[Entry, ...]


def read_record(git: Git, base: str) -> Record:
    """The record; that of a tree just imported is empty."""
    try:
        data = json.loads((git.dir / "overlay" / "record.json").read_bytes())
    except FileNotFoundError:
        return Record(base, ())
    return parse_record(data)


def write_record(git: Git, record: Record) -> None:
    """Remember a record, and keep its commits from git's garbage collection."""
    _write(git.dir / "overlay" / "record.json", asdict(record))
    git.run("update-ref", APPLIED, record.head)


def move(git: Git, old: Record, new: Record, exported: bool = True) -> None:
    """Move branch, record and work tree from one state to another; the work tree is clean.

    The branch is the old one or the new one at any moment. What git refuses is taken back. With
    `exported` false the record stays: what is new on the branch is not in patches/ yet.
    """
    for lock in (git.dir / name for name in _LOCKS):
        if lock.exists():
            raise OverlayError(f"{lock}: another git is at work, or was killed: then remove it")
    _require_space(git, old.head, new.head)
    journal = git.dir / "overlay" / "journal.json"
    _write(journal, {"old": asdict(old), "new": asdict(new), "exported": exported})
    try:
        git.run("update-ref", "-m", "overlay", BRANCH, new.head, old.head)
    except OverlayError:
        journal.unlink()
        raise
    try:
        if exported:
            write_record(git, new)
        # A copied checkout has other inodes than the index remembers, which read-tree refuses.
        git.run("update-index", "-q", "--refresh")
        git.run("read-tree", "-m", "-u", old.head, new.head)
    except (OverlayError, OSError):
        git.run("update-ref", "-m", "overlay: back", BRANCH, old.head, new.head)
        recover(git)
        raise
    journal.unlink()


def interrupted(git: Git) -> bool:
    """Whether a run was ended in the middle of `move`."""
    return (git.dir / "overlay" / "journal.json").exists()


def recover(git: Git) -> None:
    """End what a killed run began; the caller holds the workspace's lock.

    Raises OverlayError when a file was changed since by someone else.
    """
    # Of a git that was killed; the rest of its locks may be those of a person's own commands.
    for left in [*(git.dir / "refs" / "overlay").rglob("*.lock"), git.dir / "overlay/marks.lock"]:
        left.unlink(missing_ok=True)
    git.end_delete()
    journal = git.dir / "overlay" / "journal.json"
    if not journal.exists():
        return
    data = json.loads(journal.read_bytes())
    old, new = parse_record(data["old"]), parse_record(data["new"])
    for name in _LOCKS:
        (git.dir / name).unlink(missing_ok=True)
    target = new if git.resolve(BRANCH) == new.head else old
    if git.resolve(BRANCH) != target.head:
        raise OverlayError(
            f"{git.tree}: the branch was moved after an interrupted run: "
            f"git -C {git.tree} reset --hard {old.head[:12]}, then again"
        )
    _follow(git, old.head, new.head, target.head)
    if data.get("exported", True):
        write_record(git, target)
    journal.unlink()


def _require_space(git: Git, old: str, new: str) -> None:
    """Refuse to begin what a full disk would leave half done."""
    changed = git.run("diff-tree", "-r", "-z", "--no-renames", old, new).decode().split("\0")[:-1:2]
    blobs = "".join(f"{line.split()[3]}\n" for line in changed if not line.endswith(" D"))
    sizes = git.run("cat-file", "--batch-check=%(objectsize)", data=blobs.encode()).split()
    index = (git.dir / "index").stat().st_size
    require_space(git.tree, sum(map(int, sizes)) + len(sizes) * _BLOCK + 2 * index + _MARGIN)


def _follow(git: Git, old: str, new: str, target: str) -> None:
    """Bring the files that differ between two commits, half-written perhaps, to `target`."""
    names = git.run("diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new).split(b"\0")
    paths = [name.decode() for name in names if name]
    kept = {path: git.blob(target, path) for path in paths}
    for path in paths:
        _check_ours(git, path, (git.blob(old, path), git.blob(new, path)))
    git.run("read-tree", "-m", "-i", target)
    for path in paths:
        if kept[path] is None:
            file = git.tree / path
            file.unlink(missing_ok=True)
            _prune(file.parent, git.tree)
    present = "\0".join(path for path in paths if kept[path] is not None)
    git.run("checkout-index", "-f", "-u", "-z", "--stdin", data=present.encode())


def _check_ours(git: Git, path: str, contents: Iterable[bytes | None]) -> None:
    """Refuse to write over a file that is neither version nor the beginning of one."""
    try:
        found = (git.tree / path).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return
    if not any(content is not None and content.startswith(found) for content in contents):
        raise OverlayError(
            f"{git.tree / path}: was changed after an interrupted run: move it away, then again"
        )


def _prune(folder: Path, root: Path) -> None:
    """Remove folders that became empty, as git does."""
    while folder != root:
        try:
            folder.rmdir()
        except FileNotFoundError:
            pass
        except OSError:
            return
        folder = folder.parent


def parse_record(data: dict[str, Any]) -> Record:
    """A record from what JSON holds of it."""
    return Record(data["head"], tuple(Entry(**entry) for entry in data["patches"]))


def _write(path: Path, data: dict[str, Any]) -> None:
    with whole_file(path) as draft:
        draft.write_text(json.dumps(data, indent=1))
