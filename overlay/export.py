# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Commits to patch files: always the same bytes for the same commits."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from overlay import store, tree
from overlay.errors import OverlayError
from overlay.git import Git
from overlay.header import Header, from_message
from overlay.patchfile import parse_patch, read_bytes, read_series, render, write_series
from overlay.paths import HERE, Workspace
from overlay.pin import Pin

# Every option that changes a byte of the output, whatever git's defaults become.
_DIFF = (
    "diff-tree", "-p", "-r", "--full-index", "--unified=3", "--inter-hunk-context=0",
    "--diff-algorithm=myers", "--indent-heuristic", "--no-renames", "--no-color", "--no-ext-diff",
    "--no-textconv", "--no-relative", "--src-prefix=a/", "--dst-prefix=b/", "--no-commit-id",
    "--submodule=short", "-O/dev/null",
)  # fmt: skip


@dataclass(frozen=True)
class Export:
    """Files of patches/ by what happened, or would happen, to them."""

    new: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    same: tuple[str, ...]

    @property
    def stale(self) -> bool:
        """Whether patches/ is not what the commits give."""
        return bool(self.new or self.changed or self.removed)


def export(pin: Pin, workspace: Workspace = HERE, check: bool = False) -> Export:
    """Write the tree's commits to patches/; with `check` only say what would be written.

    Raises OverlayError when work is in no commit, when a commit cannot be a patch, or when
    patches/ holds something that is not in the commits.
    """
    with tree.opened(workspace):
        git = Git(workspace.tree)
        facts = tree.inspect_pinned(pin, workspace)
        tree.require_settled(facts, "export")
        rendered = render_commits(git, facts.base, "HEAD")
        wanted = {patch.file: patch.data for patch in rendered}
        old = read_series(workspace.patches)
        found = {file: read_bytes(workspace.patches, file) for file in old}
        result = Export(
            tuple(file for file in wanted if file not in found),
            tuple(file for file in wanted if file in found and found[file] != wanted[file]),
            tuple(file for file in found if file not in wanted),
            tuple(file for file in wanted if found.get(file) == wanted[file]),
        )
        if check:
            return result
        if list(found.items()) != list(wanted.items()):
            _refuse_loss(facts.record, found)
            write_series(workspace.patches, old, wanted)
        record = record_of(facts.head, rendered)
        if record != facts.record:
            store.write_record(git, record)
        return result


@dataclass(frozen=True)
class Rendered:
    """A commit as the patch file it is written to."""

    commit: str
    file: str
    data: bytes


def render_commits(git: Git, base: str, head: str) -> list[Rendered]:
    """The patch files of the commits from `base` to `head`, numbered from 1.

    Raises OverlayError for a commit that cannot be a patch.
    """
    names = _names(git, _commits(git, base, head))
    return [Rendered(commit, file, _patch(git, commit, file)) for commit, file in names.items()]


def topics(git: Git, base: str, head: str) -> list[str]:
    """The names of the patches that the commits from `base` to `head` are."""
    return [_header(git, commit)[0] for commit in _commits(git, base, head)]


def record_of(head: str, rendered: Sequence[Rendered]) -> store.Record:
    """The record of a branch whose commits stand in patches/."""
    entries = [
        store.Entry(patch.file, hashlib.sha256(patch.data).hexdigest(), patch.commit)
        for patch in rendered
    ]
    return store.Record(head, tuple(entries))


def _commits(git: Git, base: str, head: str) -> list[str]:
    """The commits above the pristine one, oldest first; they have to form a line."""
    lines = git.text("rev-list", "--reverse", "--parents", f"{base}..{head}").splitlines()
    parent = base
    for line in lines:
        commit, *parents = line.split()
        if parents != [parent]:
            raise OverlayError(
                f"commit {commit[:12]} does not follow {parent[:12]}: the commits have to be one "
                "line on top of the pristine one, without merges: rebase them"
            )
        parent = commit
    if git.resolve(head) != parent:
        raise OverlayError("HEAD is not on top of the pristine commit: rebase your commits on it")
    return [line.split()[0] for line in lines]


def _names(git: Git, commits: list[str]) -> dict[str, str]:
    """The file name of each commit's patch: its number, then its topic."""
    names: dict[str, str] = {}
    topics: dict[str, str] = {}
    for number, commit in enumerate(commits, 1):
        topic = _header(git, commit)[0]
        if topic in topics:
            raise OverlayError(
                f"commits {topics[topic][:12]} and {commit[:12]} both have the name {topic}: write "
                "another before the colon of a title, or squash them"
            )
        topics[topic] = commit
        names[commit] = f"{number:04d}-{topic}.patch"
    return names


def _header(git: Git, commit: str) -> tuple[str, Header]:
    text = git.run(
        "show", "-s", "--encoding=UTF-8", "--date=format-local:%Y-%m-%d",
        "--format=%an <%ae>%n%ad%n%B", commit,
    )  # fmt: skip
    try:
        author, date, message = text.decode().split("\n", 2)
    except UnicodeDecodeError:
        raise OverlayError(f"commit {commit[:12]}: its message is not UTF-8") from None
    return from_message(message, author, date)


def _patch(git: Git, commit: str, file: str) -> bytes:
    """The bytes of a commit's patch file; OverlayError when it cannot be read back."""
    diff = git.run(*_DIFF, commit)
    title = git.text("show", "-s", "--format=%s", commit)
    if not diff:
        raise OverlayError(
            f"commit {commit[:12]} ({title}) changes nothing: amend it with a change, or drop it"
        )
    try:
        data = render(_header(git, commit)[1], diff)
        parse_patch(file, data)
    except OverlayError as fault:
        raise OverlayError(f"commit {commit[:12]} ({title}): {fault}") from fault
    return data


def _refuse_loss(record: store.Record, found: dict[str, bytes]) -> None:
    """Refuse to write over patch files that are not the ones the commits came from."""
    known = {entry.file: entry.sha256 for entry in record.patches}
    for file, data in found.items():
        if hashlib.sha256(data).hexdigest() != known.get(file):
            raise OverlayError(
                f"{file} is not in .work/vllm as it is in patches/, and would be lost: apply it "
                "first, or take it out of patches/series"
            )
