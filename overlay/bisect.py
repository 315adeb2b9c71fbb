# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Finding the patch that makes a command fail, and the earlier ones that it needs for that."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from overlay import commits, process, tree
from overlay.errors import OverlayError, UsageError
from overlay.git import Git
from overlay.leave_out import leave_out, needed_by
from overlay.lock import alone
from overlay.match import File
from overlay.patchfile import Patch, number_of_patches, read_all
from overlay.paths import HERE, Workspace
from overlay.pin import Pin
from overlay.wheels import Wheels

SKIP = 125  # the exit code that says: these patches cannot be tried
_CANNOT_RUN = (126, 127)

Say = Callable[[str], None]


@dataclass(frozen=True)
class Culprit:
    """The first patch with which the command fails, by name.

    `needs` are the earlier patches it cannot be applied without; `along` those that have to be
    there besides for the command to fail. `maybe` are others that could not be tried.
    """

    name: str
    needs: list[str]
    along: list[str]
    maybe: list[str]
    runs: int


def bisect(
    command: Sequence[str],
    pin: Pin,
    workspace: Workspace = HERE,
    wheels: Wheels | None = None,
    say: Say = print,
) -> Culprit:
    """Run `command` with fewer and fewer patches on a scratch work tree.

    It finds the tree in OVERLAY_TREE, and in OVERLAY_WHEEL the wheel of it when `wheels` are given;
    its exit code 125 says that it cannot tell. Raises OverlayError when it fails with no patch at
    all or with none of them.
    """
    series = tree.require_clean_applied(pin, workspace)
    patches = read_all(workspace.patches)
    git = Git(workspace.tree)
    files = commits.load(git, series.base, patches)
    with alone(workspace.work / "bisect.lock", "bisect"), _scratch(git, workspace) as folder:
        trials = _Trials(command, series.base, workspace, folder, wheels, pin, say)
        if trials.fails([]) is not False:
            raise OverlayError("the command fails, or cannot be tried, without any patch")
        if trials.fails(patches) is not True:
            raise OverlayError("the command does not fail with all patches, or cannot be tried")
        first, maybe = _first(patches, trials)
        culprit = patches[first]
        needs = needed_by(patches, culprit.topic, files)
        along: list[str] = []
        if not maybe:
            along = _along(patches[: first + 1], culprit, needs, files, trials)
        return Culprit(
            culprit.topic, needs, along, [patch.topic for patch in maybe], len(trials.known)
        )


class _Trials:
    """The command's verdicts on sets of patches, each asked for once."""

    def __init__(
        self, command: Sequence[str], base: str, workspace: Workspace, folder: Path,
        wheels: Wheels | None, pin: Pin, say: Say,
    ) -> None:  # fmt: skip
        self.known: dict[tuple[str, ...], bool | None] = {}
        self._command = list(command)
        self._base = base
        self._workspace = workspace
        self._folder = folder
        self._wheels = wheels
        self._pin = pin
        self._say = say

    def fails(self, patches: Sequence[Patch]) -> bool | None:
        """Whether the command fails with these patches; None when that cannot be tried."""
        names = tuple(patch.topic for patch in patches)
        if names not in self.known:
            verdict = self.known[names] = self._try(patches)
            words = {True: "fails", False: "passes", None: "cannot be tried"}[verdict]
            count = number_of_patches(len(patches))
            self._say(f"{count}{f', {names[-1]} last' if names else ''}: {words}")
        return self.known[names]

    def _try(self, patches: Sequence[Patch]) -> bool | None:
        with tree.opened(self._workspace):
            git = Git(self._workspace.tree)
            built = commits.build(git, self._base, patches)
        head = built[-1].commit if built else self._base
        scratch = Git(self._folder)
        scratch.run("read-tree", "--reset", "-u", head)
        scratch.run("update-ref", "--no-deref", "HEAD", head)
        # What the command left, ignored or not, is no part of the next try.
        scratch.run("clean", "-ffdxq")
        env = os.environ | {"OVERLAY_TREE": str(self._folder)}
        if self._wheels:
            try:
                wheel = self._wheels.build(self._pin, self._base, built)
            except OverlayError as fault:
                self._say(f"no wheel: {fault}")
                return None
            env["OVERLAY_WHEEL"] = str(wheel)
        try:
            code = process.complete(self._command, cwd=self._folder, env=env).returncode
        except OSError as fault:
            raise UsageError(f"{self._command[0]}: {fault.strerror}") from fault
        if code in _CANNOT_RUN:
            raise UsageError(f"{self._command[0]}: cannot be run (exit code {code})")
        return None if code == SKIP else code != 0


def _first(patches: Sequence[Patch], trials: _Trials) -> tuple[int, Sequence[Patch]]:
    """The index of the first patch with which the command fails, and others it may be."""
    passes, fails = 0, len(patches)
    while candidates := [
        count
        for count in range(passes + 1, fails)
        if trials.known.get(tuple(patch.topic for patch in patches[:count]), False) is not None
    ]:
        middle = min(candidates, key=lambda count: abs(2 * count - passes - fails))
        verdict = trials.fails(patches[:middle])
        if verdict is not None:
            passes, fails = (passes, middle) if verdict else (middle, fails)
    return fails - 1, patches[passes : fails - 1]


def _along(
    patches: Sequence[Patch], culprit: Patch, needs: Sequence[str], files: dict[str, File],
    trials: _Trials,
) -> list[str]:  # fmt: skip
    """The earlier patches that it takes besides those needed, for the command to fail."""
    kept = list(patches)
    only = [patch for patch in kept if patch.topic in needs or patch is culprit]
    if trials.fails(only):
        return []
    for patch in reversed(patches[:-1]):
        if patch in kept and patch.topic not in needs:
            rest = list(leave_out(kept, [patch.topic], files).kept)
            if culprit in rest and trials.fails(rest):
                kept = rest
    return [patch.topic for patch in kept if patch not in only]


@contextmanager
def _scratch(git: Git, workspace: Workspace) -> Iterator[Path]:
    """A work tree of its own beside the private one; it goes in the end."""
    folder = workspace.work / "bisect" / "vllm"
    _remove(git, folder)
    folder.parent.mkdir(exist_ok=True)
    # Twice --force: a git that was killed while it added the folder left that name locked.
    git.run("worktree", "add", "--force", "--force", "--quiet", "--detach", str(folder), "HEAD")
    try:
        yield folder
    finally:
        _remove(git, folder)
        with contextlib.suppress(OSError):  # there are wheels in it
            folder.parent.rmdir()


def _remove(git: Git, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    git.run("worktree", "prune")
