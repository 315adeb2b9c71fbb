# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The private tree: apply, unapply and what other modules ask of it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from overlay import commits, progress, source, store, switch
from overlay.errors import OverlayError
from overlay.git import Git
from overlay.leave_out import leave_out
from overlay.lock import locked
from overlay.match import Offset
from overlay.patchfile import Patch, read_all
from overlay.paths import HERE, Workspace
from overlay.pin import Pin
from overlay.swap import finish_swap

RESET = "git -C .work/vllm reset --hard refs/overlay/applied"
_UNDER_WAY = ("rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD")


@dataclass(frozen=True)
class AppliedPatch:
    """A patch as it is in the tree: its commit, and the paths that commit changes (sorted)."""

    name: str
    file: str
    sha256: str
    commit: str
    header: dict[str, str]
    changed: list[str]


@dataclass(frozen=True)
class AppliedSeries:
    """The whole series in the tree: `base` is the pristine commit, `head` the last patch's."""

    base: str
    head: str
    patches: list[AppliedPatch]


@dataclass(frozen=True)
class Change:
    """A path that differs between two commits: status is A (new), M (changed) or D (gone)."""

    status: str
    path: str


@dataclass(frozen=True)
class Outcome:
    """What `apply` did: whether the tree moved, and the hunks that fitted at another line.

    `left_out` says why, by name, for each patch that was left out.
    """

    series: AppliedSeries
    moved: bool
    offsets: list[tuple[str, Offset]]
    left_out: dict[str, str]


@dataclass(frozen=True)
class Facts:
    """What the tree is like now; `problem` says why it is not the pin's, or is empty."""

    base: str
    head: str
    record: store.Record
    dirty: tuple[str, ...]
    under_way: str
    upgrade: progress.Progress | None
    problem: str

    @property
    def unexported(self) -> bool:
        """Whether the branch holds other commits than those that apply or export left."""
        return self.head != self.record.head


def apply(pin: Pin, workspace: Workspace = HERE) -> AppliedSeries:
    """Make .work/vllm the pinned source with the whole series applied (imports it when needed).

    Raises OverlayError and changes nothing when a patch does not fit, or when the tree holds work
    that would be lost.
    """
    return apply_series(pin, workspace).series


def apply_series(
    pin: Pin,
    workspace: Workspace = HERE,
    source_of: str | None = None,
    anew: bool = False,
    without: Collection[str] = (),
) -> Outcome:
    """`apply`, from a git checkout or URL when `source_of` names one.

    `anew` imports the source again even when there is a tree; the patches named in `without` are
    left out, with those that need them.
    """
    with opened(workspace):
        git = Git(workspace.tree)
        if workspace.tree.exists():
            facts = inspect(git, pin)
            refuse_work(facts, "again")
            if not (anew or source_of):
                _refuse_other(facts)
        patches = read_all(workspace.patches)
        if anew or source_of or not workspace.tree.exists():
            replaces = workspace.tree.exists()
            with source.imported(pin, workspace, source_of) as new_tree:
                if replaces:  # only by one that the series fits
                    commits.lay(patches, commits.load(new_tree, source.PRISTINE, patches))
        facts = inspect(git, pin)
        left_out: dict[str, str] = {}
        if without:
            rest = leave_out(patches, without, commits.load(git, facts.base, patches))
            patches, left_out = list(rest.kept), rest.gone
        wanted = [(patch.file, patch.sha256) for patch in patches]
        record = facts.record
        if [(entry.file, entry.sha256) for entry in record.patches] == wanted:
            return Outcome(series_of(facts.base, record, patches), False, [], left_out)
        built = commits.build(git, facts.base, patches)
        entries = [store.Entry(b.patch.file, b.patch.sha256, b.commit) for b in built]
        new = store.Record(built[-1].commit if built else facts.base, tuple(entries))
        refuse_obstacles(git, record.head, new.head)
        store.move(git, record, new)
        offsets = [(b.patch.file, offset) for b in built for offset in b.applied.offsets]
        return Outcome(series_of(facts.base, new, patches), True, offsets, left_out)


def unapply(pin: Pin, workspace: Workspace = HERE) -> bool:
    """Bring the tree back to the pristine source; False when it is that already."""
    with opened(workspace):
        git = Git(workspace.tree)
        facts = inspect_pinned(pin, workspace)
        refuse_work(facts, "unapply")
        new = store.Record(facts.base, ())
        if facts.record == new:
            return False
        refuse_obstacles(git, facts.head, new.head)
        store.move(git, facts.record, new)
        return True


def require_clean_applied(pin: Pin, workspace: Workspace = HERE) -> AppliedSeries:
    """The series as applied; raises OverlayError when the tree is in any other state."""
    with opened(workspace):
        return applied_series(pin, workspace)


def applied_series(pin: Pin, workspace: Workspace, command: str = "again") -> AppliedSeries:
    """`require_clean_applied` for a caller that holds the workspace's lock."""
    facts = inspect_pinned(pin, workspace)
    refuse_work(facts, command)
    patches = read_all(workspace.patches)
    found = [(entry.file, entry.sha256) for entry in facts.record.patches]
    if found != [(patch.file, patch.sha256) for patch in patches]:
        raise OverlayError(".work/vllm is not the series in patches/: ./apply_patches.py apply")
    return series_of(facts.base, facts.record, patches)


def changed_files(base: str, head: str, workspace: Workspace = HERE) -> list[Change]:
    """The paths that differ between two commits, sorted."""
    return _changed(Git(workspace.tree), base, head)


@contextmanager
def opened(workspace: Workspace) -> Iterator[None]:
    """Hold the workspace's lock, with whatever a killed run left behind repaired."""
    with locked(workspace):
        finish_swap(workspace.patches)
        source.clean_up(workspace)
        if workspace.tree.exists():
            git = Git(workspace.tree)
            store.recover(git)
            switch.recover(git, workspace)
            progress.recover(git)
        yield


def repair(workspace: Workspace = HERE) -> None:
    """Repair what a killed run left; pin.yaml and patches/ may be other ones afterwards."""
    git = Git(workspace.tree)
    if store.interrupted(git) or switch.interrupted(git) or progress.interrupted(git):
        with opened(workspace):
            pass  # repaired as it was opened


def require_tree(workspace: Workspace) -> None:
    """Raise OverlayError when nothing has been imported yet."""
    if not workspace.tree.exists():
        raise OverlayError("there is no .work/vllm yet: ./apply_patches.py apply")


def inspect(git: Git, pin: Pin) -> Facts:
    """Look at the tree; writes nothing."""
    base = git.resolve(source.PRISTINE)
    branch = git.result("symbolic-ref", "--quiet", "HEAD").stdout.decode().strip()
    head = git.resolve("HEAD")
    if base is None or head is None:
        raise OverlayError(f"{git.tree} is not a tree this tool made: move it away, then apply")
    lines = git.run("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all")
    dirty = [line[3:].decode(errors="replace") for line in lines.split(b"\0") if line]
    under_way = [name for name in _UNDER_WAY if (git.dir / name).exists()]
    if not under_way and branch != source.BRANCH:
        under_way = [f"HEAD on {branch.removeprefix('refs/heads/') or 'no branch'}, not on main"]
    record = store.read_record(git, base)
    problem = source.mismatch(git, pin)
    busy = (under_way or [""])[0]
    return Facts(base, head, record, tuple(dirty), busy, progress.load(git), problem)


def inspect_pinned(pin: Pin, workspace: Workspace) -> Facts:
    """`inspect`; raises OverlayError when there is no tree, or it is not the pin's."""
    require_tree(workspace)
    facts = inspect(Git(workspace.tree), pin)
    _refuse_other(facts)
    return facts


def _refuse_other(facts: Facts) -> None:
    if facts.problem:
        raise OverlayError(
            f".work/vllm {facts.problem}: `./apply_patches.py apply --anew` replaces it"
        )


def require_settled(facts: Facts, command: str) -> None:
    """Raise OverlayError while work is under way that no commit holds yet."""
    if facts.upgrade:
        raise OverlayError(f".work/vllm has {progress.describe(facts.upgrade)}")
    if facts.under_way:
        raise OverlayError(f".work/vllm has {facts.under_way}: end that first, then {command}")
    if facts.dirty:
        more = f" and {len(facts.dirty) - 1} more" if len(facts.dirty) > 1 else ""
        raise OverlayError(
            f".work/vllm has changes that are in no commit ({facts.dirty[0]}{more}): commit them "
            f"(git -C .work/vllm commit) or take them back, then {command}"
        )


def refuse_work(facts: Facts, command: str) -> None:
    """Raise OverlayError when the tree holds work that patches/ has not."""
    require_settled(facts, command)
    if facts.unexported:
        raise OverlayError(
            f".work/vllm has commits that are not exported: ./apply_patches.py export writes them "
            f"to patches/, `{RESET}` drops them"
        )


def refuse_obstacles(git: Git, old: str, new: str) -> None:
    """Refuse when a file that git does not know, an ignored one, is where a new one goes."""
    for change in _changed(git, old, new):
        if change.status != "A":
            continue
        path = git.tree / change.path
        above = [path.parents[depth] for depth in range(change.path.count("/"))]
        blocked = [path] if os.path.lexists(path) else []
        blocked += [folder for folder in above if folder.is_symlink() or folder.is_file()]
        if blocked:
            raise OverlayError(
                f"{blocked[0]} is in the way of {change.path}, which a patch adds: move it away"
            )


def _changed(git: Git, base: str, head: str) -> list[Change]:
    fields = git.run("diff-tree", "-r", "-z", "--name-status", "--no-renames", base, head)
    parts = fields.decode(errors="surrogateescape").split("\0")[:-1]
    return sorted(
        (Change(status, path) for status, path in zip(parts[::2], parts[1::2], strict=True)),
        key=lambda change: change.path,
    )


def series_of(base: str, record: store.Record, patches: list[Patch]) -> AppliedSeries:
    """What `apply` returns for a record and its patches."""
    applied = [
        AppliedPatch(
            patch.topic,
            patch.file,
            patch.sha256,
            entry.commit,
            patch.header.fields,
            sorted(file.path for file in patch.files),
        )
        for patch, entry in zip(patches, record.patches, strict=True)
    ]
    return AppliedSeries(base, record.head, applied)
