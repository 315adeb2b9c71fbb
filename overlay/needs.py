# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Which earlier patches a patch cannot do without."""

from __future__ import annotations

from collections.abc import Sequence

from overlay.diff import FilePatch, Hunk
from overlay.patchfile import Patch


def needs(patches: Sequence[Patch]) -> dict[str, list[str]]:
    """For each patch, by name: the earlier ones it names in Depends or whose lines it meets.

    A hunk meets an earlier patch when one of the lines it expects, context included, is one that
    the other put there or moved together.
    """
    result: dict[str, list[str]] = {}
    for index, patch in enumerate(patches):
        named = patch.header.entries("Depends")
        result[patch.topic] = [
            earlier.topic
            for position, earlier in enumerate(patches[:index])
            if earlier.topic in named or _meets(patch, earlier, patches[position + 1 : index])
        ]
    return result


def _meets(patch: Patch, earlier: Patch, between: Sequence[Patch]) -> bool:
    for file in patch.files:
        before = _of(earlier, file.path)
        if before is None:
            continue
        if "M" not in (before.status, file.status) or before.status != file.status:
            return True
        regions = _regions(before)
        for other in between:
            step = _of(other, file.path)
            if step is not None:
                regions = [(_moved(start, step), _moved(end, step)) for start, end in regions]
        if any(_overlap(hunk, start, end) for hunk in file.hunks for start, end in regions):
            return True
    return False


def _of(patch: Patch, path: str) -> FilePatch | None:
    return next((file for file in patch.files if file.path == path), None)


def _regions(file: FilePatch) -> list[tuple[int, int]]:
    """The lines a patch changed, first and one past the last, counted in the file it leaves."""
    regions = []
    shift = 0
    for hunk in file.hunks:
        first, last = _core(hunk)
        start = hunk.start + shift + first
        regions.append((start, start + len(hunk.new) - first - last))
        shift += len(hunk.new) - len(hunk.old)
    return regions


def _core(hunk: Hunk) -> tuple[int, int]:
    """How many lines of context a hunk begins and ends with."""
    shortest = min(len(hunk.old), len(hunk.new))
    first = 0
    while first < shortest and hunk.old[first] == hunk.new[first]:
        first += 1
    last = 0
    while last < shortest - first and hunk.old[-1 - last] == hunk.new[-1 - last]:
        last += 1
    return first, last


def _moved(line: int, step: FilePatch) -> int:
    """Where a line of the file before `step` is after it."""
    shift = 0
    for hunk in step.hunks:
        if hunk.start + _core(hunk)[0] < line:
            shift += len(hunk.new) - len(hunk.old)
    return line + shift


def _overlap(hunk: Hunk, start: int, end: int) -> bool:
    # An empty region is where lines were taken out: it is met from both sides only.
    return hunk.start < max(end, start + 1) and start < hunk.start + len(hunk.old)
