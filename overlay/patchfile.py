# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Patch files and the series that orders them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from overlay.diff import FilePatch, parse_diff
from overlay.errors import OverlayError, UsageError
from overlay.header import TOPIC, Header, parse_header
from overlay.swap import swapped

_FILE = re.compile(rf"(\d{{4}})-({TOPIC.pattern})\.patch")
_SUMMARY = re.compile(
    r" (\d+) files? changed(?:, (\d+) insertions?\(\+\))?(?:, (\d+) deletions?\(-\))?"
)


@dataclass(frozen=True)
class Patch:
    """A patch file that was read and found whole; `topic` is its name without number."""

    file: str
    topic: str
    sha256: str
    data: bytes
    header: Header
    diff: bytes
    files: tuple[FilePatch, ...]

    @property
    def added(self) -> int:
        """How many lines it adds."""
        return sum(file.added for file in self.files)

    @property
    def removed(self) -> int:
        """How many lines it removes."""
        return sum(file.removed for file in self.files)


def topic_of(file: str) -> str:
    """The name of a patch, from its file's.

    Raises OverlayError when the file's name is not `NNNN-topic.patch`.
    """
    match = _FILE.fullmatch(file)
    if not match:
        raise OverlayError(f"{file}: expected a name like 0001-some-topic.patch")
    return match[2]


def number_of_patches(count: int) -> str:
    """So many patches, in words: `1 patch`."""
    return f"{count} patch{'es' * (count != 1)}"


def summary(files: int, added: int, removed: int) -> str:
    """The line between header and diff that makes a missing end show: git's --shortstat."""
    text = f" {files} file{'s' * (files != 1)} changed"
    if added or not removed:
        text += f", {added} insertion{'s' * (added != 1)}(+)"
    if removed or not added:
        text += f", {removed} deletion{'s' * (removed != 1)}(-)"
    return text


def render(header: Header, diff: bytes) -> bytes:
    """The canonical bytes of a patch file for a header and a git diff."""
    files = parse_diff("the diff", diff, 1)
    counts = summary(len(files), sum(f.added for f in files), sum(f.removed for f in files))
    return f"{header.render()}---\n{counts}\n\n".encode() + diff


def parse_patch(file: str, data: bytes) -> Patch:
    """Read a patch file's bytes.

    Raises OverlayError naming file and line for whatever is not a header, `---` and a whole diff.
    """
    topic = topic_of(file)
    if not data.strip():
        raise OverlayError(f"{file}: the patch is empty")
    if data.startswith((b"diff ", b"--- ")):
        raise OverlayError(f"{file}:1: there is no header: expected 'Subject: text', then '---'")
    head, separator, rest = data.partition(b"\n---\n")
    if not separator:
        head = data.partition(b"\ndiff --git ")[0].removesuffix(b"\n")
    try:
        header = parse_header(file, head.decode() + "\n")
    except UnicodeDecodeError as fault:
        line = head[: fault.start].count(b"\n") + 1
        raise OverlayError(f"{file}:{line}: the header is not UTF-8") from None
    if not separator:
        raise OverlayError(f"{file}: no line '---' between header and diff: the patch is cut short")
    if not header.fields.get("Subject"):
        raise OverlayError(f"{file}: the header has no Subject")
    first = head.count(b"\n") + 3
    said, rest, first = _cut_summary(rest, first)
    files = parse_diff(file, rest, first)
    patch = Patch(file, topic, hashlib.sha256(data).hexdigest(), data, header, rest, files)
    found = summary(len(files), patch.added, patch.removed)
    if said and said != found:
        raise OverlayError(
            f"{file}: the summary says{said}, the diff has{found}: cut short or edited by hand"
        )
    return patch


def _cut_summary(data: bytes, first: int) -> tuple[str, bytes, int]:
    line, newline, rest = data.partition(b"\n\n")
    text = line.decode("latin-1")
    if newline and _SUMMARY.fullmatch(text):
        return text, rest, first + 2
    return "", data, first


def read_series(folder: Path) -> list[str]:
    """The file names that `series` lists, in order.

    Raises OverlayError naming the line of an entry that is no file's name or is there twice.
    """
    path = folder / "series"
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file: the series lists the patches in order") from None
    except (OSError, UnicodeDecodeError) as fault:
        raise UsageError(f"{path}: {fault}") from fault
    names: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        entry = line.strip()
        if not entry or entry.startswith("#"):
            continue
        if not _FILE.fullmatch(entry):
            raise OverlayError(f"series:{number}: expected 0001-some-topic.patch, found {entry!r}")
        if entry in names:
            raise OverlayError(f"series:{number}: {entry} is listed twice")
        names.append(entry)
    return names


def series_comment(folder: Path) -> str:
    """The comment lines that open `series`; an export keeps them."""
    text = (folder / "series").read_text(encoding="utf-8")
    kept = []
    for line in text.splitlines(keepends=True):
        if not line.startswith("#"):
            break
        kept.append(line)
    return "".join(kept)


def read_patch(folder: Path, file: str) -> Patch:
    """Read one patch file of the series."""
    return parse_patch(file, read_bytes(folder, file))


def read_bytes(folder: Path, file: str) -> bytes:
    """A patch file's bytes; UsageError when it is missing or cannot be read."""
    try:
        return (folder / file).read_bytes()
    except FileNotFoundError:
        raise UsageError(
            f"series: {file} is listed but there is no such file in patches/"
        ) from None
    except OSError as fault:
        raise UsageError(f"{file}: {fault.strerror}") from fault


def write_series(folder: Path, old: Iterable[str], wanted: Mapping[str, bytes]) -> None:
    """Replace the series of patches/ by other files, all at once; `old` are those that may go."""
    comment = series_comment(folder)
    with swapped(folder) as new:
        for file in old:
            if file not in wanted:
                (new / file).unlink(missing_ok=True)
        for file, data in wanted.items():
            path = new / file
            if not path.exists() or path.read_bytes() != data:
                path.write_bytes(data)
        (new / "series").write_text(comment + "".join(f"{file}\n" for file in wanted))


def read_all(folder: Path) -> list[Patch]:
    """Every patch of the series, in order.

    Raises OverlayError when two of them have the same name.
    """
    patches = [read_patch(folder, file) for file in read_series(folder)]
    seen: dict[str, str] = {}
    for patch in patches:
        if patch.topic in seen:
            raise OverlayError(f"{patch.file}: has the same name as {seen[patch.topic]}")
        seen[patch.topic] = patch.file
    return patches
