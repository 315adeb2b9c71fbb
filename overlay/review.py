# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What each patch of the series does on other vLLM versions; nothing in the work tree is touched.

The patches are laid one on the other over a version's pristine tree in memory. One that the version
has already, or that its probe retires, is left out for those after it. Where a merge clashes, those
after it find the patch's own lines, as they would once a person has resolved the clash.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from overlay import commits, tree
from overlay.errors import OverlayError
from overlay.git import Git
from overlay.match import Applied, File, apply_patch, hunks_present
from overlay.merge import Merged, merge_patch, moves
from overlay.modules import Module, World
from overlay.names import Missing, Side, missing
from overlay.needs import needs
from overlay.patchfile import Patch, read_all
from overlay.paths import HERE, Workspace
from overlay.pin import Pin
from overlay.probe import parse_probe
from overlay.upstream import Lock, applied_release, load_upstream, not_after, references
from overlay.versions import Pristine, pristine


class Outcome(StrEnum):
    """What becomes of a patch on a version."""

    CLEAN = "clean"
    OFFSET = "offset"
    MERGED = "merged 3-way"
    CONFLICT = "conflict"
    UPSTREAM = "already upstream"
    RETIRE = "retire"

    @property
    def left_out(self) -> bool:
        """Whether the version does without the patch."""
        return self in (Outcome.UPSTREAM, Outcome.RETIRE)


@dataclass(frozen=True)
class Verdict:
    """A patch on one version: what becomes of it and why, and the names it would miss there.

    `doubts` are what a person has to look at although the outcome alone would not ask for it.
    """

    file: str
    topic: str
    outcome: Outcome
    reason: str
    missing: tuple[Missing, ...] = ()
    doubts: tuple[str, ...] = ()

    @property
    def needs_work(self) -> bool:
        """Whether a person has something to do or to look at before the version can be used."""
        asks = self.outcome in (Outcome.MERGED, Outcome.CONFLICT)
        return asks or bool(self.missing or self.doubts)


@dataclass(frozen=True)
class Report:
    """The whole series on one version."""

    version: str
    pinned: bool
    verdicts: tuple[Verdict, ...]

    @property
    def needs_work(self) -> bool:
        """Whether any patch does."""
        return any(verdict.needs_work for verdict in self.verdicts)


def review(versions: Sequence[str], pin: Pin, workspace: Workspace = HERE) -> list[Report]:
    """Try the series on each version.

    Raises OverlayError when a version cannot be had, or the series does not fit its own pin.
    """
    with tree.opened(workspace):
        git = Git(workspace.tree)
        facts = tree.inspect_pinned(pin, workspace)
        patches = read_all(workspace.patches)
        lock = load_upstream(workspace.patches)
        required = needs(patches)
        parsed: dict[str, Module | None] = {}
        own = _Own(git, facts.base, patches, parsed)
        runs = [
            _Run(git, pristine(git, version, pin), patches, lock, required, parsed)
            for version in dict.fromkeys(versions)
        ]
        for patch in patches:
            own.lay(patch)
            for run in runs:
                run.lay(patch, own)
        return [run.report() for run in runs]


class _Own:
    """The pinned version with the series on it, as far as it is laid."""

    def __init__(
        self, git: Git, base: str, patches: Sequence[Patch], parsed: dict[str, Module | None]
    ) -> None:
        self.base = base
        self.before: dict[str, File] = {}
        self.changes: dict[str, File | None] = {}
        self._world = World.of(git, base, parsed)
        self._files = commits.load(git, base, patches)

    def lay(self, patch: Patch) -> None:
        """Put the next patch on."""
        paths = {file.path for file in patch.files}
        self.before = {path: self._files[path] for path in paths if path in self._files}
        self.changes = apply_patch(patch.file, patch.files, self._files).changes
        commits.put(self._files, self.changes)
        self._world.lay(self.changes)

    def side(self) -> Side:
        """This version for the comparison of names."""
        return Side(self._world, _data(self.before))


@dataclass
class _Found:
    """What was found for a patch, before names and doubts are looked at."""

    outcome: Outcome
    reason: str
    changes: Mapping[str, File | None] = field(default_factory=dict)


class _Run:
    """One version with the series on it, as far as it is laid."""

    def __init__(
        self,
        git: Git,
        version: Pristine,
        patches: Sequence[Patch],
        lock: Lock,
        required: Mapping[str, list[str]],
        parsed: dict[str, Module | None],
    ) -> None:
        self._git = git
        self._version = version
        self._lock = lock
        self._required = required
        self._world = World.of(git, version.commit, parsed)
        self._files = commits.load(git, version.commit, patches)
        self._loaded = {file.path for patch in patches for file in patch.files}
        self._moves: dict[str, str] | None = None
        self._verdicts: dict[str, Verdict] = {}

    def report(self) -> Report:
        """The verdicts so far."""
        verdicts = tuple(self._verdicts.values())
        return Report(self._version.version, self._version.pinned, verdicts)

    def lay(self, patch: Patch, own: _Own) -> None:
        """Put the next patch on, and judge it; `own` has just laid it."""
        holds, doubts = self._probe(patch, own.base)
        found = self._present(patch, holds) or self._fits(patch, own)
        if found.outcome.left_out and not holds and patch.header.entries("Retire-Probe"):
            doubts.append("its Retire-Probe does not hold, though the change is there: mend it")
        names: list[Missing] = []
        if not found.outcome.left_out:
            before = {path: self._files.get(path) for path in found.changes}
            commits.put(self._files, found.changes)
            self._world.lay(found.changes)
            side = Side(self._world, _data({p: f for p, f in before.items() if f is not None}))
            # Where a person has to resolve a clash the file need not be Python yet.
            conflict = found.outcome is Outcome.CONFLICT
            paths = [path for path in found.changes if not conflict or self._world.file(path)]
            names = missing(own.side(), side, paths)
            doubts += self._known_upstream(patch)
            doubts += self._waits_for(patch, bool(names) or conflict)
        self._verdicts[patch.topic] = Verdict(
            patch.file, patch.topic, found.outcome, found.reason, tuple(names), tuple(doubts)
        )

    def _probe(self, patch: Patch, base: str) -> tuple[bool, list[str]]:
        """Whether the patch's probes hold on the pristine tree, and what makes them doubtful."""
        doubts: list[str] = []
        holding = []
        for entry in patch.header.entries("Retire-Probe"):
            probe = parse_probe(entry)
            data = self._git.blob(self._version.commit, probe.path)
            if data is None:
                doubts.append(f"its Retire-Probe cannot tell: there is no {probe.path}")
            if self._version.commit != base and probe.holds(self._git.blob(base, probe.path)):
                doubts.append(f"its Retire-Probe holds on the pinned version too: {entry}")
                holding.append(False)
            else:
                holding.append(probe.holds(data))
        return bool(holding) and all(holding), doubts

    def _present(self, patch: Patch, holds: bool) -> _Found | None:
        """The verdict on a patch that the version does without."""
        total = sum(max(len(file.hunks), 1) for file in patch.files)
        if self._hunks_there(patch) == total:
            hunks = f"all {total} hunks are" if total > 1 else "its hunk is"
            probe = "; its Retire-Probe holds" if holds else ""
            return _Found(Outcome.UPSTREAM, f"{hunks} in the tree{probe}")
        if holds:
            probe = "; ".join(patch.header.entries("Retire-Probe"))
            return _Found(Outcome.RETIRE, f"its Retire-Probe holds: {probe}")
        return None

    def _fits(self, patch: Patch, own: _Own) -> _Found:
        try:
            applied = apply_patch(patch.file, patch.files, self._files)
        except OverlayError as fault:
            return self._merge(patch, own, str(fault).removeprefix(f"{patch.file}:"))
        merged = self._merged(patch, own)
        if not merged.clashes and (others := _differ(applied, merged, self._files)):
            # Both are plausible, and only one of them can be what the patch means.
            reason = f"its hunks fit, but a merge gives another result in {', '.join(others)}"
            return _Found(Outcome.MERGED, reason, merged.changes)
        total = sum(len(file.hunks) for file in patch.files)
        if not applied.offsets:
            return _Found(Outcome.CLEAN, "every hunk fits at its line", applied.changes)
        moves = sorted({offset.found - offset.said for offset in applied.offsets})
        by = f"{moves[0]:+}" + (f" to {moves[-1]:+}" if moves[1:] else "")
        reason = f"{len(applied.offsets)} of {total} hunks fit at other lines ({by})"
        return _Found(Outcome.OFFSET, reason, applied.changes)

    def _merge(self, patch: Patch, own: _Own, why: str) -> _Found:
        merged = self._merged(patch, own)
        moved = "".join(f"; {old} is now {new}" for old, new in merged.moved.items())
        if merged.clashes:
            there, total = self._hunks_there(patch), sum(len(file.hunks) for file in patch.files)
            part = f"; {there} of {total} hunks are in the tree already" if there else ""
            places = "; ".join(
                f"{clash.path}{f':{clash.line}' if clash.line else ''} {clash.reason}"
                for clash in merged.clashes
            )
            return _Found(Outcome.CONFLICT, f"{places}{moved}{part}", merged.changes)
        if not merged.changes:
            return _Found(Outcome.UPSTREAM, "a merge finds nothing of it left to do")
        return _Found(Outcome.MERGED, f"patch line {why.strip()}{moved}", merged.changes)

    def _merged(self, patch: Patch, own: _Own) -> Merged:
        gone = [file.path for file in patch.files if file.path not in self._files]
        moves: dict[str, str] = {}
        if any(path in own.before for path in gone):
            moves = self._moved(own.base)
            for path in gone:
                if path in moves:
                    self._load(moves[path])
        return merge_patch(self._git, patch.files, own.before, own.changes, self._files, moves)

    def _moved(self, base: str) -> dict[str, str]:
        """Where this version has the files of the pinned one that are at another path."""
        if self._moves is None:
            self._moves = moves(self._git, base, self._version.commit)
        return self._moves

    def _load(self, path: str) -> None:
        """Read a file that no patch names, as commits.load does for those that one names."""
        if path not in self._loaded:
            data = self._git.run("cat-file", "blob", f"{self._version.commit}:{path}")
            self._files[path] = replace(self._files[path], data=data)
            self._loaded.add(path)

    def _hunks_there(self, patch: Patch) -> int:
        return sum(hunks_present(file, self._files.get(file.path)) for file in patch.files)

    def _known_upstream(self, patch: Patch) -> list[str]:
        """What header and lock say is in this version, although its tree does not have it."""
        version = self._version.version
        named = [self._lock[name] for name in references(patch) if name in self._lock]
        doubts = [
            f"upstream.yaml says that {reference.name} is in {reference.first_release}: compare"
            for reference in named
            if reference.in_release(version)
        ]
        if (said := applied_release(patch)) and not_after(said, version):
            doubts.append(f"its header says that it is in {said}, but its hunks are not: compare")
        return doubts

    def _waits_for(self, patch: Patch, in_trouble: bool) -> list[str]:
        """The patches that this one needs and that do not stand as they should."""
        doubts = []
        for topic in self._required[patch.topic]:
            outcome = self._verdicts[topic].outcome
            if outcome is Outcome.CONFLICT:
                doubts.append(f"needs {topic}, which has a conflict to resolve first")
            elif outcome.left_out and in_trouble:
                doubts.append(f"needs {topic}, which is left out here")
        return doubts


def _differ(applied: Applied, merged: Merged, files: Mapping[str, File]) -> list[str]:
    return [
        path
        for path, file in applied.changes.items()
        if merged.changes.get(path, files.get(path)) != file
    ]


def _data(files: Mapping[str, File]) -> dict[str, bytes | None]:
    return {path: file.data for path, file in files.items()}
