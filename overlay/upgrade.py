# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Rebasing the series on another vLLM version, patch by patch.

Patches are merged in memory; the work tree is touched where a conflict needs a person. Branch,
pin.yaml and patches/ are the old ones until all is done, and the new ones from one moment on.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from overlay import commits, export, next_pin, progress, resolutions, switch, tree
from overlay.diff import FilePatch
from overlay.errors import OverlayError, UsageError
from overlay.git import Git
from overlay.header import to_message
from overlay.leftovers import leftovers
from overlay.manifest import render_manifest
from overlay.match import File, apply_patch, blob_id
from overlay.merge import merge_file, merge_patch, moves
from overlay.next_pin import NextPin
from overlay.patchfile import Patch, parse_patch, read_all, write_series
from overlay.paths import HERE, Workspace
from overlay.pin import Pin, load_pin
from overlay.progress import Progress, Stage, Step, Stop
from overlay.review import Outcome, Verdict, review
from overlay.versions import pristine

_SKIPPED = "skipped"

LookUp = Callable[[Git, str, str, Pin], NextPin]


@dataclass(frozen=True)
class Result:
    """What a run did: `stopped` says how to go on, or is empty when the upgrade is done.

    `steps` are what became of each patch so far, of which a stop before told `known`; `notes` are
    what a person has to look at at the end. Of one that is done the same call gives the same result
    until `told`, so a kill loses nothing.
    """

    steps: tuple[Step, ...]
    stopped: str
    notes: list[str]
    known: int = 0

    @property
    def news(self) -> list[Step]:
        """The steps that no stop before has told, in the order of the patches."""
        return sorted(self.steps[self.known :], key=lambda step: step.file)


def start(
    version: str,
    pin: Pin,
    workspace: Workspace = HERE,
    confirm: Callable[[str], bool] = lambda question: True,
    look_up: LookUp = next_pin.look_up,
) -> Result:
    """Begin an upgrade and go as far as it goes; `confirm` is asked before a patch is dropped.

    Raises OverlayError, and changes nothing, when the tree holds work or the version cannot be had.
    """
    with tree.opened(workspace):
        git = Git(workspace.tree)
        ended = progress.ended(git)
        if ended and ended.version == version:
            return _done(workspace, ended)
        if version == pin.version:
            raise UsageError(f"pin.yaml says {version} already")
        tree.require_tree(workspace)
        current = progress.load(git)
        if current and (current.version != version or current.stop):
            raise OverlayError(f"there is {progress.describe(current)}")
        if current:
            return _go_on(git, pin, workspace, current)
        series = tree.applied_series(pin, workspace, "upgrade")
    (report,) = review([version], pin, workspace)
    dropped = {
        verdict.file: f"dropped: {verdict.outcome} ({verdict.reason})"
        for verdict in report.verdicts
        if verdict.outcome.left_out and confirm(f"{verdict.file}: {verdict.outcome}: drop it?")
    }
    notes = [note for verdict in report.verdicts for note in _notes(verdict, dropped)]
    with tree.opened(workspace):
        base = pristine(git, version, pin).commit
    found = look_up(git, base, version, pin)
    next_pin.rewrite(workspace.pin.read_text(encoding="utf-8"), found.values)
    with tree.opened(workspace):
        # It may have moved while nobody held the lock.
        if tree.applied_series(pin, workspace, "upgrade") != series:
            raise OverlayError(".work/vllm was changed meanwhile: run it again")
        state = Progress(
            version, found.values, notes + found.notes, series.head, base, base, series.head,
            tuple(patch.file for patch in series.patches if patch.file not in dropped),
            tuple(Step(file, words) for file, words in dropped.items()),
        )  # fmt: skip
        progress.save(git, state)
        return _go_on(git, pin, workspace, state)


def _notes(verdict: Verdict, dropped: Collection[str]) -> list[str]:
    """What a person has to look at although the patch may well have gone on."""
    if verdict.file in dropped:
        return []
    found = [f"{name.path}:{name.line}: {name.name}: {name.reason}" for name in verdict.missing]
    # Conflicts are resolved by then.
    found += [doubt for doubt in verdict.doubts if not doubt.startswith("needs ")]
    return [f"{verdict.topic}: {text}" for text in found]


def go_on(pin: Pin, workspace: Workspace = HERE) -> Result:
    """`--continue`: take what the index holds for the patch that stopped, and go on.

    Raises OverlayError naming the path when something is not resolved or not added.
    """
    with tree.opened(workspace):
        ended = progress.ended(Git(workspace.tree))
        if ended:
            return _done(workspace, ended)
        git, state = _under_way(workspace)
        known = len(state.steps) if state.stop else 0
        if state.stop is not None:
            state = _resolved(git, workspace, state, state.stop)
        return replace(_go_on(git, pin, workspace, state), known=known)


def skip(pin: Pin, workspace: Workspace = HERE) -> Result:
    """`--skip`: leave out the patch that stopped, and go on."""
    with tree.opened(workspace):
        git, state = _under_way(workspace)
        if state.stop is None:
            raise OverlayError(f"nothing to skip: there is {progress.describe(state)}")
        known = len(state.steps)
        step = Step(state.stop.file, _SKIPPED)
        state = replace(
            state, todo=state.todo[1:], steps=(*state.steps, step), stop=None, shown=state.tip
        )
        result = _go_on(git, pin, workspace, progress.show(git, state))
        return replace(result, known=known)


def abort(workspace: Workspace = HERE) -> str:
    """`--abort`: forget the upgrade; the tree is what it was. Returns the version."""
    with tree.opened(workspace):
        git, state = _under_way(workspace)
        progress.abort(git, state)
        return state.version


def told(workspace: Workspace = HERE) -> None:
    """The result of an upgrade that is done was shown: forget it."""
    with tree.opened(workspace):
        progress.told(Git(workspace.tree))


def _done(workspace: Workspace, state: Progress) -> Result:
    return Result(state.steps, "", state.notes + _stale_depends(read_all(workspace.patches)))


def _under_way(workspace: Workspace) -> tuple[Git, Progress]:
    tree.require_tree(workspace)
    git = Git(workspace.tree)
    state = progress.load(git)
    if state is None and (ended := progress.ended(git)):
        raise OverlayError(
            f"the upgrade to {ended.version} is done: ./apply_patches.py upgrade --continue says "
            "what to look at"
        )
    if state is None:
        raise OverlayError("no upgrade is under way: ./apply_patches.py upgrade VERSION begins one")
    return git, state


def _resolved(git: Git, workspace: Workspace, state: Progress, stop: Stop) -> Progress:
    """The state after a person resolved a conflict."""
    head = git.resolve("HEAD")
    if state.tip not in (head, git.resolve("HEAD^")):
        raise OverlayError(
            f"HEAD of .work/vllm was moved: git -C .work/vllm reset --soft {state.tip[:12]}, then "
            "again"
        )
    unmerged = _names(git.run("diff", "--name-only", "--diff-filter=U", "-z"))
    if unmerged:
        raise OverlayError(
            f"{unmerged[0]} is not resolved: edit it, git -C .work/vllm add {unmerged[0]} (or rm)"
        )
    loose = _names(git.run("diff", "--name-only", "-z"))
    loose += _names(git.run("ls-files", "-z", "--others", "--exclude-standard"))
    if loose:
        raise OverlayError(
            f"{loose[0]} is not in the index: git -C .work/vllm add {loose[0]}, or take it back"
        )
    progress.save(git, replace(state, taking=True))
    content = git.text("write-tree")
    progress.save(git, state)
    for path in stop.paths:
        data = git.blob(content, path)
        if data is not None and (line := resolutions.unresolved(data)):
            raise OverlayError(f"{path}:{line}: a conflict marker is left there: resolve and add")
    marked = git.blobs(state.shown, stop.paths)
    for path in stop.paths:
        before, after = marked[path], git.blob(content, path)
        if before is not None and after is not None and resolutions.unresolved(before):
            resolutions.remember(_memory(workspace), before, after)
    patch = next(patch for patch in read_all(workspace.patches) if patch.file == stop.file)
    tip, outcome = state.tip, "nothing was left of it"
    if content != git.text("rev-parse", f"{tip}^{{tree}}"):
        person, date = commits.author_of(patch)
        message = to_message(patch.topic, patch.header)
        tip = git.commit_tree(content, message, [tip], f"{person} {date}")
        outcome = "merged by hand"
    step = Step(stop.file, outcome)
    state = replace(
        state, tip=tip, shown=tip, todo=state.todo[1:], steps=(*state.steps, step), stop=None
    )
    return progress.show(git, state)


def _go_on(git: Git, pin: Pin, workspace: Workspace, state: Progress) -> Result:
    """Merge patch after patch, until one stops or all are done."""
    facts = tree.inspect(git, pin)
    patches = read_all(workspace.patches)
    found = [(patch.file, patch.sha256) for patch in patches]
    if facts.problem or found != [(entry.file, entry.sha256) for entry in facts.record.patches]:
        raise OverlayError(
            "pin.yaml or patches/ has changed since the upgrade began: take that back, or "
            "./apply_patches.py upgrade --abort"
        )
    if facts.dirty:
        raise OverlayError(f"{facts.dirty[0]} is in no commit: take it back, then --continue")
    where = moves(git, facts.base, state.base)
    old = commits.load(git, facts.base, patches)
    new = commits.load(git, state.tip, patches, where.values())
    done: list[tuple[Patch, commits.Changes]] = []
    steps = list(state.steps)
    stop = None
    for patch in patches:
        before = {file.path: old[file.path] for file in patch.files if file.path in old}
        theirs = commits.lay_one(patch, old).changes
        if patch.file not in state.todo:
            continue
        merged = merge_patch(git, patch.files, before, theirs, new, where)
        changes = dict(merged.changes)
        labels = (f"vLLM {state.version} and the patches before", "the pinned version", patch.file)
        clashes = [
            _clash(git, workspace, file, merged.moved.get(file.path, file.path), labels,
                   before.get(file.path), theirs[file.path], new)
            for file in patch.files
            if merged.moved.get(file.path, file.path) in {clash.path for clash in merged.clashes}
        ]  # fmt: skip
        changes |= {clash.path: clash.file for clash in clashes}
        if stages := tuple(stage for clash in clashes for stage in clash.stages):
            stop = Stop(patch.file, stages)
            done.append((patch, changes))
            break
        outcome = "resolved as before" if clashes else _outcome(patch, new, changes)
        steps.append(Step(patch.file, outcome))
        if any(new.get(path) != file for path, file in changes.items()):
            done.append((patch, changes))
            commits.put(new, changes)
    ids = commits.store(git, state.tip, done) if done else []
    landed = ids[:-1] if stop else ids
    tip = landed[-1] if landed else state.tip
    todo = state.todo[state.todo.index(stop.file) :] if stop else ()
    state = replace(state, tip=tip, todo=todo, steps=tuple(steps))
    progress.save(git, state)
    if stop is None:
        return _finish(git, pin, workspace, state)
    tree.refuse_obstacles(git, state.shown, ids[-1])
    state = progress.show(git, replace(state, stop=stop, shown=ids[-1]))
    return Result(state.steps, progress.explain(state.version, stop), [])


@dataclass(frozen=True)
class _Clashing:
    """A path that clashes: what the work tree shows, and the index's entries unless it is known
    how to resolve it."""

    path: str
    file: File | None
    stages: tuple[Stage, ...]


def _clash(
    git: Git, workspace: Workspace, patch: FilePatch, path: str, labels: Sequence[str],
    base: File | None, theirs: File | None, new: Mapping[str, File],
) -> _Clashing:  # fmt: skip
    ours = new.get(path)
    sides = (base, ours, theirs)
    stages = tuple(
        Stage(path, number, side.mode, blob_id(side.data))
        for number, side in enumerate(sides, 1)
        if side is not None
    )
    if ours is None or theirs is None:  # one side has no such file: a person has to choose
        return _Clashing(path, ours or theirs, stages)
    texts = [side.data if side else b"" for side in (ours, base, theirs)]
    options = [option for label in labels for option in ("-L", label)]
    marked = merge_file(git, texts, "--diff3", *options).stdout
    mode = patch.new_mode or ours.mode
    known = resolutions.known(git, _memory(workspace), marked)
    if known is not None:
        return _Clashing(path, File(mode, known), ())
    return _Clashing(path, File(mode, marked), stages)


def _outcome(patch: Patch, new: Mapping[str, File], changes: commits.Changes) -> str:
    """In a word: whether the patch's hunks fit as they are, and where."""
    if all(new.get(path) == file for path, file in changes.items()):
        return f"dropped: {Outcome.UPSTREAM} (a merge finds nothing of it left to do)"
    try:
        applied = apply_patch(patch.file, patch.files, new)
    except OverlayError:
        return str(Outcome.MERGED)
    if any(changes.get(path, new.get(path)) != file for path, file in applied.changes.items()):
        return str(Outcome.MERGED)
    return str(Outcome.OFFSET if applied.offsets else Outcome.CLEAN)


def _finish(git: Git, pin: Pin, workspace: Workspace, state: Progress) -> Result:
    """Write the new pin, patches/ and PATCHES.md, and move the branch, all in one step."""
    rendered = export.render_commits(git, state.base, state.tip)
    kept = [parse_patch(r.file, r.data) for r in rendered]
    built = commits.build(git, state.base, kept)
    head = built[-1].commit if built else state.base
    trees = git.text("rev-parse", f"{head}^{{tree}}", f"{state.tip}^{{tree}}").split()
    if trees[0] != trees[1]:
        raise OverlayError(f"the patches do not give the tree of {state.tip[:12]}: report this")
    again = [replace(r, commit=b.commit) for r, b in zip(rendered, built, strict=True)]
    patches = {r.file: r.data for r in again}
    text = next_pin.rewrite(workspace.pin.read_text(encoding="utf-8"), state.values)
    text = next_pin.remember(text, pin.sdist)
    files = {workspace.pin.name: text.encode()}
    with tempfile.TemporaryDirectory(prefix="overlay-") as folder:
        draft = Workspace(Path(folder))
        draft.pin.write_text(text, encoding="utf-8")
        new = load_pin(draft.pin)
        shutil.copytree(workspace.patches, draft.patches)
        write_series(draft.patches, [p.file for p in read_all(workspace.patches)], patches)
        if workspace.manifest.exists():
            files[workspace.manifest.name] = render_manifest(new, draft).encode()
    tree.refuse_obstacles(git, state.shown, head)
    left = _left_out(state, read_all(workspace.patches), kept, workspace)
    # A run that was killed may have noted them already.
    notes = [note for note in state.notes if note not in left] + left
    state = replace(state, notes=notes)
    progress.save(git, state)
    record = export.record_of(head, again)
    switch.switch(workspace, state.base, record, patches, files)
    return _done(workspace, state)


def _left_out(
    state: Progress, old: Sequence[Patch], kept: Sequence[Patch], workspace: Workspace
) -> list[str]:
    """What a person has to look at where patches are not in the series any more."""
    topics = {patch.topic for patch in kept}
    gone = [patch for patch in old if patch.topic not in topics]
    skipped = [f"{step.file}: was skipped" for step in state.steps if step.outcome == _SKIPPED]
    return skipped + leftovers(gone, kept, workspace)


def _stale_depends(patches: Sequence[Patch]) -> list[str]:
    """What a person has to look at where a patch says that it needs one that was left out."""
    topics = {patch.topic for patch in patches}
    return [
        f"{patch.topic}: Depends names {name}, which was left out: does it work without?"
        for patch in patches
        for name in patch.header.entries("Depends")
        if name not in topics
    ]


def _memory(workspace: Workspace) -> Path:
    return workspace.work / "resolutions"


def _names(output: bytes) -> list[str]:
    return [name.decode(errors="surrogateescape") for name in output.split(b"\0") if name]
