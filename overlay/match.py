# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Laying a patch over files in memory: exact context, one place, or a refusal."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from overlay.diff import FilePatch, Hunk
from overlay.errors import OverlayError

_SHOWN = 60  # characters of a line that a message shows


@dataclass(frozen=True)
class File:
    """A file of the tree: its git mode and its bytes."""

    mode: str
    data: bytes


@dataclass(frozen=True)
class Offset:
    """A hunk that fits at another line than its patch says (both from 1)."""

    path: str
    patch_line: int
    said: int
    found: int


@dataclass(frozen=True)
class Applied:
    """What a patch makes of the tree: each path's new file, or None where it is deleted."""

    changes: dict[str, File | None]
    offsets: tuple[Offset, ...]


def apply_patch(name: str, files: Sequence[FilePatch], tree: Mapping[str, File]) -> Applied:
    """Lay a patch over `tree`, which holds at least the files it touches and all others' names.

    Raises OverlayError naming patch, file and line unless every hunk fits exactly and in one place.
    """
    changes: dict[str, File | None] = {}
    offsets: list[Offset] = []
    for patch in files:
        where = f"{name}:{patch.line}: {patch.path}"
        if patch.status == "A":
            changes[patch.path] = _create(where, patch, tree)
            continue
        file = tree.get(patch.path)
        if file is None:
            raise OverlayError(f"{where}: {_absent(patch.path, tree)}")
        if file.mode not in ("100644", "100755"):
            raise OverlayError(f"{where}: is not a plain file in the tree (mode {file.mode})")
        if patch.old_mode and patch.old_mode != file.mode:
            raise OverlayError(f"{where}: expected mode {patch.old_mode}, found {file.mode}")
        data, found = _modify(name, patch, file.data)
        offsets += found
        if patch.status == "D":
            if data:
                raise OverlayError(f"{where}: deletes the file but not all of its lines")
            changes[patch.path] = None
        else:
            changes[patch.path] = File(patch.new_mode or file.mode, data)
    return Applied(changes, tuple(offsets))


def hunks_present(patch: FilePatch, file: File | None) -> int:
    """How many of a path's hunks are in the tree already (a file without hunks counts as one)."""
    if patch.status == "D":
        return int(file is None)
    if file is None:
        return 0
    if not patch.hunks:
        return int(not patch.new_mode or file.mode == patch.new_mode)
    lines = split(file.data)
    return sum(_present(hunk, lines) for hunk in patch.hunks)


def _present(hunk: Hunk, lines: list[bytes]) -> bool:
    """Whether a hunk's new lines are there, and its old ones only as a part of those."""
    new = _places(hunk.new, lines)
    return bool(new) and all(
        any(start <= place <= start + len(hunk.new) - len(hunk.old) for start in new)
        for place in _places(hunk.old, lines)
    )


def blob_id(data: bytes) -> str:
    """The id git gives a file's bytes."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def split(data: bytes) -> list[bytes]:
    """Lines with their newlines; only LF ends a line, as in git."""
    lines = data.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])


def _absent(path: str, tree: Mapping[str, File]) -> str:
    parts = path.split("/")
    for depth in range(1, len(parts)):
        above = "/".join(parts[:depth])
        if above in tree:
            return f"{above} is a file, not a folder, in the tree"
    return "no such file in the tree"


def _create(where: str, patch: FilePatch, tree: Mapping[str, File]) -> File:
    data = b"".join(patch.hunks[0].new) if patch.hunks else b""
    existing = tree.get(patch.path)
    if existing is not None:
        same = " with the same content: the patch is in the tree already"
        raise OverlayError(
            f"{where}: the new file exists{same if existing.data == data else ' already'}"
        )
    if (blocked := _absent(patch.path, tree)) != "no such file in the tree":
        raise OverlayError(f"{where}: {blocked}")
    if any(path.startswith(patch.path + "/") for path in tree):
        raise OverlayError(f"{where}: is a folder in the tree")
    _check_result(where, patch, data)
    return File(patch.new_mode, data)


def _modify(name: str, patch: FilePatch, data: bytes) -> tuple[bytes, list[Offset]]:
    lines = split(data)
    # Line numbers are trusted only in the very file the patch was made from: anywhere else a twin
    # may have moved to the place that the number names.
    known = bool(patch.old_blob) and blob_id(data).startswith(patch.old_blob)
    result: list[bytes] = []
    offsets: list[Offset] = []
    end = 0
    shift = 0
    for number, hunk in enumerate(patch.hunks, 1):
        where = f"{name}:{hunk.line}: {patch.path}: hunk {number}"
        place = _known_place(where, hunk, lines) if known else _place(where, hunk, lines, shift)
        if place < end:
            raise OverlayError(f"{where}: fits only above the hunk before it, at line {place + 1}")
        result += lines[end:place]
        result += hunk.new
        end = place + len(hunk.old)
        shift = place - hunk.start
        if shift:
            offsets.append(Offset(patch.path, hunk.line, hunk.start + 1, place + 1))
    result += lines[end:]
    for line in result[:-1]:
        if not line.endswith(b"\n"):
            raise OverlayError(
                f"{name}:{patch.line}: {patch.path}: a line without newline is not last"
            )
    new = b"".join(result)
    if known:
        _check_result(f"{name}:{patch.line}: {patch.path}", patch, new)
    return new, offsets


def _known_place(where: str, hunk: Hunk, lines: list[bytes]) -> int:
    if lines[hunk.start : hunk.start + len(hunk.old)] != list(hunk.old):
        raise OverlayError(f"{where}: {_mismatch(hunk, lines, hunk.start)}")
    return hunk.start


def _place(where: str, hunk: Hunk, lines: list[bytes], shift: int) -> int:
    places = _places(hunk.old, lines)
    if len(places) > 1:
        shown = " and ".join(str(place + 1) for place in places[:2])
        more = f" (and {len(places) - 2} more)" if len(places) > 2 else ""
        raise OverlayError(
            f"{where}: fits in more than one place, lines {shown}{more}, and the file is not the "
            f"one it was made from (it says line {hunk.start + 1}): make the patch anew"
        )
    if places:
        return places[0]
    present = _places(hunk.new, lines) if len(hunk.new) > len(hunk.old) else []
    if present:
        raise OverlayError(f"{where}: is in the tree already, at line {present[0] + 1}")
    raise OverlayError(f"{where}: {_mismatch(hunk, lines, hunk.start + shift)}")


def _places(wanted: Sequence[bytes], lines: list[bytes]) -> list[int]:
    """Every index at which the wanted lines are found; no lines are found in an empty file only."""
    if not wanted:
        return [] if lines else [0]
    size = len(wanted)
    block = list(wanted)
    return [
        index
        for index in range(len(lines) - size + 1)
        if lines[index] == block[0] and lines[index : index + size] == block
    ]


def _mismatch(hunk: Hunk, lines: list[bytes], start: int) -> str:
    """What a hunk expected and what is there, at the place where most of its lines are."""
    if not hunk.old:
        return "has no context, and the file is not empty: make the diff with 3 lines of context"
    ends = _other_ends(hunk, lines)
    if ends:
        return ends

    def likeness(index: int) -> tuple[int, int]:
        pairs = zip(hunk.old, lines[max(index, 0) :], strict=False)
        return sum(want == have for want, have in pairs), -abs(index - start)

    best = max(range(max(len(lines), 1)), key=likeness)
    for offset, want in enumerate(hunk.old):
        have = lines[best + offset] if best + offset < len(lines) else None
        if want != have:
            found = "the end of the file" if have is None else _show(have)
            return f"does not fit: line {best + offset + 1}: expected {_show(want)}, found {found}"
    return f"is not at line {start + 1} but at {best + 1}, though the file is the one it names"


def _other_ends(hunk: Hunk, lines: list[bytes]) -> str:
    """Words for a hunk that would fit but for CRLF against LF, or an empty string."""

    def plain(text: Sequence[bytes]) -> list[bytes]:
        return [line.removesuffix(b"\n").removesuffix(b"\r") + b"\n" for line in text]

    if not _places(plain(hunk.old), plain(lines)):
        return ""
    names = [
        "CRLF" if any(line.endswith(b"\r\n") for line in side) else "LF"
        for side in (hunk.old, lines)
    ]
    if names[0] == names[1]:
        return "fits but for line ends: patch and file mix LF and CRLF in different ways"
    return f"fits but for line ends: the patch has {names[0]}, the file {names[1]}"


def _check_result(where: str, patch: FilePatch, data: bytes) -> None:
    if patch.status != "D" and not blob_id(data).startswith(patch.new_blob):
        raise OverlayError(
            f"{where}: the result is not the file its index line names ({patch.new_blob[:12]}): "
            "the patch is cut short or was edited by hand"
        )


def _show(line: bytes) -> str:
    text = line.decode(errors="replace")
    if not text.endswith("\n"):
        return f"{text[:_SHOWN]!r} without newline"
    text = text[:-1]
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")
