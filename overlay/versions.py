# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Pristine trees of other vLLM versions, kept as commits beside the pinned one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from overlay.errors import UsageError
from overlay.fetch import fetch, fetch_unpinned
from overlay.files import sha256
from overlay.git import Git
from overlay.pin import Artifact, Pin
from overlay.source import PRISTINE, import_sdist

_VERSION = re.compile(r"\d+(\.\d+)+((a|b|rc|\.post)\d+)?")
_SOURCE = re.compile(r"^Source: sha256 ([0-9a-f]{64})$", re.MULTILINE)


@dataclass(frozen=True)
class Pristine:
    """A version's pristine tree: `commit` has no parent and nothing but the source in it.

    `pinned` says whether pin.yaml has the hash that its source distribution was checked against.
    """

    version: str
    commit: str
    pinned: bool


def pristine(git: Git, version: str, pin: Pin) -> Pristine:
    """The tree of any released version; imported once, from its source distribution.

    Only objects and a reference of the tool's own are written to `git`: the branch, the index and
    the work tree stay as they are. The caller holds the workspace's lock. Raises UsageError for
    what is no version, OverlayError when its source distribution cannot be had.
    """
    if not _VERSION.fullmatch(version):
        raise UsageError(f"{version!r} is not a version of vLLM: expected one like 0.33.0")
    if version == pin.version:
        return Pristine(version, git.text("rev-parse", PRISTINE), True)
    artifact = next((entry for entry in pin.versions if entry.version == version), None)
    reference = f"refs/overlay/versions/{version}"
    commit = git.resolve(reference)
    if commit is None or not _is_from(git, commit, artifact):
        path = fetch(artifact) if artifact else fetch_unpinned("vllm", version)
        tree = import_sdist(git, path, version)
        message = f"vLLM {version}\n\nSource: sha256 {sha256(path)}\n"
        commit = git.commit_tree(tree, message)
        git.run("update-ref", reference, commit)
    return Pristine(version, commit, artifact is not None)


def _is_from(git: Git, commit: str, artifact: Artifact | None) -> bool:
    """Whether the commit was made from the file that is pinned now (any, when none is)."""
    found = _SOURCE.search(git.text("show", "-s", "--format=%B", commit))
    return found is not None and (artifact is None or found[1] == artifact.sha256)
