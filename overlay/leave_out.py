# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Leaving patches out of the series, with those that cannot be applied without them."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from overlay.commits import lay, lay_one
from overlay.errors import OverlayError, UsageError
from overlay.match import File
from overlay.patchfile import Patch


@dataclass(frozen=True)
class Rest:
    """What is left of a series, and why each of the others went, by name."""

    kept: tuple[Patch, ...]
    gone: dict[str, str]


def leave_out(patches: Sequence[Patch], names: Collection[str], tree: Mapping[str, File]) -> Rest:
    """Take the named patches out, and each later one that names or does not fit without them.

    `tree` is the pristine one, as `commits.load` gives it. Raises UsageError for a name that no
    patch has, OverlayError when the whole series does not fit in the first place.
    """
    names = [find(patches, name).topic for name in names]
    lay(patches, tree)
    kept: list[Patch] = []
    gone: dict[str, str] = {}
    state = dict(tree)
    for patch in patches:
        reason = "named" if patch.topic in names else _misses(patch, gone)
        if not reason:
            try:
                lay_one(patch, state)
            except OverlayError as fault:
                reason = f"does not fit without: {fault}"
        if reason:
            gone[patch.topic] = reason
        else:
            kept.append(patch)
    return Rest(tuple(kept), gone)


def needed_by(patches: Sequence[Patch], name: str, tree: Mapping[str, File]) -> list[str]:
    """The earlier patches that one cannot be applied without, oldest first.

    Found by trying: the latest first, each earlier one is left out with all that goes with it.
    """
    wanted = find(patches, name)
    kept = list(patches[: patches.index(wanted) + 1])
    for patch in reversed(kept[:-1]):
        if patch in kept:
            rest = leave_out(kept, [patch.topic], tree)
            if wanted in rest.kept:
                kept = list(rest.kept)
    return [patch.topic for patch in kept[:-1]]


def find(patches: Sequence[Patch], name: str) -> Patch:
    """The patch with a name, with or without its number and `.patch`."""
    for patch in patches:
        if name in (patch.topic, patch.file, patch.file.removesuffix(".patch")):
            return patch
    near = difflib.get_close_matches(name, [patch.topic for patch in patches], 1)
    raise UsageError(f"no patch has the name {name}{f': is it {near[0]}?' if near else ''}")


def _misses(patch: Patch, gone: Collection[str]) -> str:
    named = [topic for topic in patch.header.entries("Depends") if topic in gone]
    return f"depends on {named[0]}" if named else ""
