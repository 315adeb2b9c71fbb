# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Moving the private tree, patches/ and files beside it to a new state in one step.

All of the new state is staged first; the journal's appearance is the one moment at which the new
state holds. Whoever finds a journal carries out the rest of it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from overlay import store, worktree
from overlay.files import whole_file
from overlay.git import Git
from overlay.patchfile import read_series, write_series
from overlay.paths import Workspace
from overlay.source import BRANCH, PRISTINE

UPGRADE = "upgrade.json"  # the state of an upgrade, which a switch ends
UPGRADED = "upgraded.json"  # its last state, until the person was told of it
UPGRADE_REFS = "refs/overlay/upgrade/"


def switch(
    workspace: Workspace,
    base: str,
    record: store.Record,
    patches: Mapping[str, bytes],
    files: Mapping[str, bytes],
) -> None:
    """Make `base` the pristine commit, `record` the branch, and write patches/ and other files.

    `files` are named by their path below the workspace's root. The work tree has nothing that no
    commit holds; the caller holds the workspace's lock.
    """
    git = Git(workspace.tree)
    staged = _staged(git)
    shutil.rmtree(staged, ignore_errors=True)
    for folder, contents in (("patches", patches), ("files", files)):
        (staged / folder).mkdir(parents=True)
        for name, data in contents.items():
            (staged / folder / name).write_bytes(data)
    journal = {
        "base": base,
        "record": asdict(record),
        "patches": list(patches),
        "replaced": read_series(workspace.patches),
        "files": list(files),
    }
    with whole_file(_journal(git)) as draft:
        draft.write_text(json.dumps(journal, indent=1))
    _carry_out(git, workspace, again=False)


def interrupted(git: Git) -> bool:
    """Whether a run was ended in the middle of `switch`."""
    return _journal(git).exists()


def recover(git: Git, workspace: Workspace) -> None:
    """Carry out what a killed `switch` began; the caller holds the workspace's lock."""
    if interrupted(git):
        _carry_out(git, workspace, again=True)


def end_upgrade(git: Git, done: bool = False) -> None:
    """End the upgrade that is under way, if one is; its state is kept when it is `done`."""
    git.delete(*git.text("for-each-ref", "--format=%(refname)", UPGRADE_REFS).split())
    state = git.dir / "overlay" / UPGRADE
    if done and state.exists():
        state.replace(state.with_name(UPGRADED))
    state.unlink(missing_ok=True)


def _carry_out(git: Git, workspace: Workspace, again: bool) -> None:
    """Every step may have been done before: none harms when it is done again."""
    if again:
        worktree.unlock(git)
    journal = json.loads(_journal(git).read_bytes())
    staged = _staged(git)
    record = store.parse_record(journal["record"])
    patches = {file: (staged / "patches" / file).read_bytes() for file in journal["patches"]}
    write_series(workspace.patches, journal["replaced"], patches)
    for name in journal["files"]:
        with whole_file(workspace.root / name) as draft:
            shutil.copyfile(staged / "files" / name, draft)
    git.run("update-ref", PRISTINE, journal["base"])
    git.run("update-ref", "-m", "overlay", BRANCH, record.head)
    git.run("symbolic-ref", "HEAD", BRANCH)
    store.write_record(git, record)
    if again:
        worktree.lay_again(git, record.head)
    else:
        worktree.lay(git, record.head)
    end_upgrade(git, done=True)
    _journal(git).unlink()
    shutil.rmtree(staged)


def _journal(git: Git) -> Path:
    return git.dir / "overlay" / "switch.json"


def _staged(git: Git) -> Path:
    return git.dir / "overlay" / "staged"
