# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The private tree: apply, unapply and what other modules ask of it."""

from __future__ import annotations

from dataclasses import dataclass

from overlay.git import Git
from overlay.paths import Workspace
from overlay.pin import Pin


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


def apply(pin: Pin, workspace: Workspace = Workspace()) -> AppliedSeries:
    """Make .work/vllm the pinned source with the whole series applied (imports it when needed)."""
    raise NotImplementedError


def require_clean_applied(pin: Pin, workspace: Workspace = Workspace()) -> AppliedSeries:
    """The series as applied; raises OverlayError when the tree is in any other state."""
    raise NotImplementedError


def changed_files(base: str, head: str, workspace: Workspace = Workspace()) -> list[Change]:
    """The paths that differ between two commits, sorted."""
    raise NotImplementedError


def read_blob(commit: str, path: str, workspace: Workspace = Workspace()) -> bytes:
    """A file's bytes as they are in a commit."""
    return Git(workspace.tree).run("cat-file", "blob", f"{commit}:{path}")
