# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What state the tree is in, as a whole and patch by patch."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import Any

from overlay import progress, tree
from overlay.commits import load
from overlay.git import Git
from overlay.match import File, hunks_present
from overlay.patchfile import Patch, number_of_patches, parse_patch, read_bytes, read_series
from overlay.paths import HERE, Workspace
from overlay.pin import Pin


@dataclass(frozen=True)
class PatchStatus:
    """A patch of the series, or one that is in the tree only, and how it stands."""

    file: str
    state: str


@dataclass(frozen=True)
class Status:
    """The tree's state, one sentence on it, and each patch's."""

    state: str
    detail: str
    patches: tuple[PatchStatus, ...]

    def as_json(self) -> dict[str, Any]:
        """The status as `--json` prints it."""
        return asdict(self)


def status(pin: Pin, workspace: Workspace = HERE) -> Status:
    """The state of .work/vllm: absent, pristine, applied, partial, dirty, unexported,
    upgrading or not-the-pin.

    Repairs what a killed run left; changes nothing else.
    """
    git = Git(workspace.tree)
    tree.repair(workspace)
    series = read_series(workspace.patches)
    hashes = {
        file: hashlib.sha256(read_bytes(workspace.patches, file)).hexdigest() for file in series
    }
    if not workspace.tree.exists():
        listed = tuple(PatchStatus(file, "not applied") for file in series)
        return Status("absent", "nothing is imported yet: ./apply_patches.py apply", listed)
    facts = tree.inspect(git, pin)
    entries = {entry.file: entry for entry in facts.record.patches}
    standing = {
        file: "not applied"
        if file not in entries
        else "applied"
        if entries[file].sha256 == digest
        else "changed in patches/"
        for file, digest in hashes.items()
    }
    standing |= {file: "no more in the series" for file in entries if file not in hashes}
    if facts.upgrade:
        standing = _upgraded(facts.upgrade, standing)
    elif facts.unexported:
        held = set(git.text("rev-list", f"{facts.base}..HEAD").split())
        for file, entry in entries.items():
            if entry.commit not in held:
                standing[file] = "its commit is gone: edited, rebased or dropped"
    state, detail = _state(facts, hashes)
    if facts.dirty and not facts.upgrade:
        in_part = _in_part(git, workspace, facts, standing)
        standing |= in_part
        if state == "dirty" and in_part:
            state, detail = "partial", f"{len(in_part)} of the patches stand in part or by hand"
    return Status(state, detail, tuple(PatchStatus(*item) for item in standing.items()))


def _state(facts: tree.Facts, hashes: dict[str, str]) -> tuple[str, str]:
    found = [(entry.file, entry.sha256) for entry in facts.record.patches]
    if facts.problem:
        return "not-the-pin", f".work/vllm {facts.problem}"
    if facts.upgrade:
        return "upgrading", progress.describe(facts.upgrade)
    if facts.under_way:
        return "unexported", f"there is {facts.under_way}: end that, then export"
    if facts.dirty:
        more = f" and {len(facts.dirty) - 1} more" if len(facts.dirty) > 1 else ""
        return "dirty", f"changes that are in no commit: {facts.dirty[0]}{more}"
    if facts.unexported:
        return "unexported", f"the commits are not those of patches/: export, or `{tree.RESET}`"
    if found == list(hashes.items()):
        count = number_of_patches(len(found))
        return ("applied", count) if found else ("pristine", "no patches")
    if not found:
        return "pristine", f"{number_of_patches(len(hashes))} to apply"
    if set(found) < set(hashes.items()):
        return "partial", f"{len(found)} of {len(hashes)} patches: apply puts on the rest"
    return "partial", "patches/ has changed since they were applied: apply"


def _upgraded(upgrade: progress.Progress, standing: dict[str, str]) -> dict[str, str]:
    """How far each patch has come on its way to the other version."""
    done = {step.file: step.outcome for step in upgrade.steps}
    stopped = upgrade.stop.file if upgrade.stop else ""
    return {
        file: "conflict" if file == stopped else done.get(file, f"not yet on {upgrade.version}")
        for file in standing
    }


def _in_part(
    git: Git, workspace: Workspace, facts: tree.Facts, standing: dict[str, str]
) -> dict[str, str]:
    """Patches that no commit holds, but of which the work tree's changed files have hunks."""
    result = {}
    missing = [file for file, state in standing.items() if state == "not applied"]
    patches = [parse_patch(file, read_bytes(workspace.patches, file)) for file in missing]
    before = load(git, "HEAD", patches)
    for patch in patches:
        present, total = _count(git, patch, facts.dirty, before)
        if present:
            result[patch.file] = f"in part: {present} of {total} hunks are in the work tree"
    return result


def _count(
    git: Git, patch: Patch, dirty: tuple[str, ...], before: dict[str, File]
) -> tuple[int, int]:
    present = total = 0
    for file in patch.files:
        total += max(len(file.hunks), 1)
        path = git.tree / file.path
        if file.path not in dirty or path.is_symlink():
            continue
        there = None
        if path.is_file():
            mode = "100755" if path.stat().st_mode & 0o100 else "100644"
            there = File(mode, path.read_bytes())
        present += max(hunks_present(file, there) - hunks_present(file, before.get(file.path)), 0)
    return present, total
