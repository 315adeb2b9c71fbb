# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""An upgrade under way: what is done, where it stopped, and the work tree it stopped in.

Nothing but this file, a reference and, at a conflict, the work tree changes until the upgrade ends:
branch, record, pin.yaml and patches/ are the old ones.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace

from overlay import switch, worktree
from overlay.files import whole_file
from overlay.git import Git
from overlay.source import BRANCH

_TIP = switch.UPGRADE_REFS + "tip"
_SHOWN = switch.UPGRADE_REFS + "shown"
_ABSENT = "0" * 40


@dataclass(frozen=True)
class Step:
    """What became of a patch."""

    file: str
    outcome: str


@dataclass(frozen=True)
class Stage:
    """One side of a conflict as git's index holds it: 1 is the base, 2 ours, 3 the patch's."""

    path: str
    number: int
    mode: str
    blob: str


@dataclass(frozen=True)
class Stop:
    """A conflict: the patch, and the index's entries for the paths that clash."""

    file: str
    stages: tuple[Stage, ...]

    @property
    def paths(self) -> list[str]:
        """The paths that clash."""
        return sorted({stage.path for stage in self.stages})


@dataclass(frozen=True)
class Progress:
    """The state of an upgrade.

    `values` are pin.yaml's new ones by their key; `base` the new pristine commit, `tip` the last
    commit above it; `shown` what the work tree holds, and `showing` whether it is just being
    brought there; `taking` whether what a person resolved is just being read, `aborting` whether
    all is just being taken back; `old` is where the branch is. `todo` are the files of the patches
    that have no place above `base` yet, the one that stopped among them.
    """

    version: str
    values: dict[str, str]
    notes: list[str]
    old: str
    base: str
    tip: str
    shown: str
    todo: tuple[str, ...]
    steps: tuple[Step, ...] = ()
    stop: Stop | None = None
    showing: bool = False
    taking: bool = False
    aborting: bool = False


def load(git: Git) -> Progress | None:
    """The upgrade that is under way, if one is."""
    return _read(git, switch.UPGRADE)


def ended(git: Git) -> Progress | None:
    """The last state of an upgrade that is done and that the person was not told of."""
    return None if load(git) else _read(git, switch.UPGRADED)


def told(git: Git) -> None:
    """Forget the upgrade that is done: the person knows what became of it."""
    (git.dir / "overlay" / switch.UPGRADED).unlink(missing_ok=True)


def _read(git: Git, name: str) -> Progress | None:
    try:
        data = json.loads((git.dir / "overlay" / name).read_bytes())
    except FileNotFoundError:
        return None
    stop = data.pop("stop")
    if stop is not None:
        stop = Stop(stop["file"], tuple(Stage(**stage) for stage in stop["stages"]))
    steps = tuple(Step(**step) for step in data.pop("steps"))
    return Progress(**{**data, "todo": tuple(data["todo"]), "steps": steps, "stop": stop})


def save(git: Git, progress: Progress) -> None:
    """Remember the state, and keep its commits from git's garbage collection."""
    git.run("update-ref", _TIP, progress.tip)
    git.run("update-ref", _SHOWN, progress.shown)
    with whole_file(git.dir / "overlay" / switch.UPGRADE) as draft:
        draft.write_text(json.dumps(asdict(progress), indent=1))


def show(git: Git, progress: Progress, again: bool = False) -> Progress:
    """Bring the work tree to `shown`, with HEAD at the tip and the index as the conflict needs it.

    What is in no commit is lost, unless `again` is said.
    """
    progress = replace(progress, showing=True)
    save(git, progress)
    if again:
        worktree.lay_again(git, progress.shown)
    else:
        worktree.lay(git, progress.shown)
    git.run("update-ref", "--no-deref", "HEAD", progress.tip)
    if progress.stop:
        lines = [f"0 {_ABSENT}\t{path}\n" for path in progress.stop.paths]
        lines += [f"{s.mode} {s.blob} {s.number}\t{s.path}\n" for s in progress.stop.stages]
        git.run("update-index", "--index-info", data="".join(lines).encode())
    progress = replace(progress, showing=False)
    save(git, progress)
    return progress


def abort(git: Git, progress: Progress) -> None:
    """Go back to the branch: files, index and HEAD are what they were before the upgrade."""
    if progress.shown != progress.old:
        save(git, replace(progress, aborting=True))
        worktree.unlock(git)
        worktree.lay(git, progress.old)
        git.run("symbolic-ref", "HEAD", BRANCH)
    switch.end_upgrade(git)


def interrupted(git: Git) -> bool:
    """Whether a run was ended while it changed the work tree."""
    progress = load(git)
    return progress is not None and (progress.aborting or progress.showing or progress.taking)


def recover(git: Git) -> None:
    """End what a killed run began in the work tree; the caller holds the workspace's lock."""
    progress = load(git)
    if progress and progress.aborting:
        abort(git, progress)
    elif progress and progress.showing:
        show(git, progress, again=True)
    elif progress and progress.taking:
        worktree.unlock(git)
        save(git, replace(progress, taking=False))


def explain(version: str, stop: Stop) -> str:
    """Where an upgrade stopped and how to go on, a file and a command a line."""
    files = "".join(f"  {path}\n" for path in stop.paths)
    return (
        f"The upgrade to {version} stopped at {stop.file}. Resolve in .work/vllm:\n{files}"
        "then, with each of them for FILE:\n"
        "  git -C .work/vllm add FILE              (rm FILE, if it is to go)\n"
        "  ./apply_patches.py upgrade --continue   (--skip leaves the patch out, --abort all)"
    )


def describe(progress: Progress) -> str:
    """What is under way and how to go on, in one line."""
    start = f"an upgrade to {progress.version}"
    if progress.stop is None:
        return f"{start} that was cut short: ./apply_patches.py upgrade --continue (or --abort)"
    return (
        f"{start}, stopped at {progress.stop.file}: resolve {', '.join(progress.stop.paths)} in "
        ".work/vllm, `git add` it, then ./apply_patches.py upgrade --continue (or --skip, --abort)"
    )
