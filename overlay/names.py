# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Names that a patch uses and that another version no longer defines, although the patch fits."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from overlay.match import split
from overlay.modules import World
from overlay.uses import uses

_INCLUDE = re.compile(rb'\s*#\s*include\s+"([^"]+)"')
_OPERATOR = re.compile(rb"\btorch\.ops\.(\w+)\.(\w+)")
_SOURCES = (".cpp", ".cu", ".cuh", ".h", ".hpp", ".inl")
# Kinds of use that are only there when they are wrong.
_ONLY_WRONG = ("undefined", "abstract")


@dataclass(frozen=True)
class Missing:
    """A name that is gone or changed: where the patched file uses it, and what is wrong."""

    path: str
    line: int
    name: str
    reason: str


@dataclass
class Side:
    """One version with the series on it as far as a patch; `before` holds its files without it."""

    world: World
    before: Mapping[str, bytes | None]


def missing(old: Side, new: Side, paths: Sequence[str]) -> list[Missing]:
    """What the lines that a patch adds to these files use, was there in `old` and is not in `new`.

    What the source does not tell is taken to be there.
    """
    result: list[Missing] = []
    for path in paths:
        if path.endswith((".py", ".pyi")):
            result += _python(old, new, path)
        elif path.endswith(_SOURCES):
            result += _includes(old, new, path)
    unique = {(entry.path, entry.name, entry.reason): entry for entry in reversed(result)}
    return sorted(unique.values(), key=lambda entry: (entry.path, entry.line))


def added_lines(before: bytes | None, after: bytes) -> frozenset[int]:
    """The lines (from 1) of `after` that are not in `before`."""
    old, new = split(before or b""), split(after)
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    matcher = SequenceMatcher(
        None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False
    )
    return frozenset(
        line + head + 1
        for tag, _, _, start, end in matcher.get_opcodes()
        if tag in ("insert", "replace")
        for line in range(start, end)
    )


def _python(old: Side, new: Side, path: str) -> Iterator[Missing]:
    after = new.world.read(path)
    if after is None:
        return
    if new.world.file(path) is None:
        if old.world.file(path) is not None:
            yield Missing(path, 1, path, "the patched file is not Python any more")
        return
    now = list(uses(new.world, path, added_lines(new.before.get(path), after)))
    if any(use.wrong for use in now):
        lines = added_lines(old.before.get(path), old.world.read(path) or b"")
        then = list(uses(old.world, path, lines))
        right = {(use.kind, use.name) for use in then if not use.wrong}
        wrong = {(use.kind, use.name) for use in then if use.wrong}
        for use in now:
            key = (use.kind, use.name)
            was_right = key not in wrong and (key in right or use.kind in _ONLY_WRONG)
            if use.wrong and was_right:
                yield Missing(path, use.line, use.name, use.wrong)
    yield from _operators(old, new, path, after)


def _operators(old: Side, new: Side, path: str, after: bytes) -> Iterator[Missing]:
    """`torch.ops` names that the C++ sources no longer have."""
    lines = split(after)
    for number in sorted(added_lines(new.before.get(path), after)):
        for namespace, name in _OPERATOR.findall(lines[number - 1]):
            if _registers(old.world, name) and not _registers(new.world, name):
                shown = f"torch.ops.{namespace.decode()}.{name.decode()}"
                yield Missing(path, number, shown, "no C++ source has this operator")


def _registers(world: World, name: bytes) -> bool:
    wanted = re.compile(rb"\b%s\b" % name)
    if any(
        data is not None and wanted.search(data)
        for path, data in world.laid.items()
        if path.endswith(_SOURCES)
    ):
        return True
    found = world.git.result("grep", "-qw", "-e", name.decode(), world.commit, "--", "csrc")
    return found.returncode == 0


def _includes(old: Side, new: Side, path: str) -> Iterator[Missing]:
    after = new.world.read(path)
    if after is None:
        return
    lines = split(after)
    for number in sorted(added_lines(new.before.get(path), after)):
        match = _INCLUDE.match(lines[number - 1])
        if match is None:
            continue
        name = match[1].decode(errors="replace")
        if _header(old.world, path, name) and not _header(new.world, path, name):
            yield Missing(path, number, name, "there is no such header any more")


def _header(world: World, path: str, name: str) -> bool:
    folders = (posixpath.dirname(path), "csrc", "")
    return any(world.exists(posixpath.normpath(posixpath.join(base, name))) for base in folders)
