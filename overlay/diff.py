# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Reading the diff of a patch, and refusing whatever is not a plain, whole text diff."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from unidiff import patch as unidiff
from unidiff.constants import LINE_TYPE_NO_NEWLINE
from unidiff.errors import UnidiffParseError

from overlay.errors import OverlayError

_Fault = Callable[[int, str], OverlayError]  # an error at a line of the diff
_DEV_NULL = "/dev/null"
_MODES = ("100644", "100755")
_INDEX = re.compile(r"index ([0-9a-f]{7,64})\.\.([0-9a-f]{7,64})(?: (\d+))?")
_MODE = re.compile(r"(old|new|new file|deleted file) mode (\d+)")
_HUNK = re.compile(r"@@ -\d+(,\d+)? \+\d+(,\d+)? @@.*")
_RENAME = re.compile(r"(rename|copy) (from|to) |(dis)?similarity index ")
_BINARY = re.compile(r"GIT binary patch|Binary files? .* differ")
_NO_NEWLINE = "\\ No newline at end of file"


@dataclass(frozen=True)
class Hunk:
    """One hunk: the lines it expects and those it leaves, newline included.

    `start` is the index (from 0) of its first old line in the file the patch was made from;
    `line` is where the hunk begins in the patch file.
    """

    start: int
    old: tuple[bytes, ...]
    new: tuple[bytes, ...]
    line: int
    added: int
    removed: int


@dataclass(frozen=True)
class FilePatch:
    """What a patch does to one path.

    `old_mode` is empty for a new file and `new_mode` for a deleted one; both are empty when the
    mode stays. The blobs are the ids of its index line, perhaps shortened, or empty.
    """

    path: str
    status: str  # A (new), M (changed) or D (deleted)
    old_mode: str
    new_mode: str
    old_blob: str
    new_blob: str
    hunks: tuple[Hunk, ...]
    line: int

    @property
    def added(self) -> int:
        """How many lines it adds."""
        return sum(hunk.added for hunk in self.hunks)

    @property
    def removed(self) -> int:
        """How many lines it removes."""
        return sum(hunk.removed for hunk in self.hunks)


@dataclass
class _Lines:
    """The diff's lines for unidiff; remembers how far it got, for the messages."""

    lines: list[str]
    read: int = field(default=0)

    def __iter__(self) -> Iterator[str]:
        for line in self.lines:
            self.read += 1
            yield line


def parse_diff(file: str, data: bytes, first: int) -> tuple[FilePatch, ...]:
    """Read a git diff; `first` is the number of its first line in the patch file.

    Raises OverlayError with file and line for an empty, truncated, binary, renaming or otherwise
    unusual diff, and for a path that could lead out of the tree.
    """

    def fault(line: int, text: str) -> OverlayError:
        return OverlayError(f"{file}:{line}: {text}")

    # latin-1 maps every byte to one character and back: files need not be UTF-8.
    lines = [line + "\n" for line in data.decode("latin-1").split("\n")]
    last = lines.pop()
    if not lines and last == "\n":
        raise OverlayError(f"{file}: there is no diff: the patch would change nothing")
    if last != "\n":
        raise fault(len(lines) + first, "the last line has no newline: the patch is cut short")
    # Blank lines in the header's place: every number that follows is one of the patch file.
    lines[:0] = ["\n"] * (first - 1)
    source = _Lines(lines)
    try:
        parsed = unidiff.PatchSet(source)
    except UnidiffParseError as error:
        words = str(error).split(":")[0].strip()
        above = [line for line in lines[: source.read - 1] if line.startswith("diff --git ")]
        path = _said(above[-1][:-1]) if above else ""
        raise fault(
            source.read, f"{path}{words[:1].lower()}{words[1:]}: cut short or edited"
        ) from error
    _check_lines(parsed, lines, first, fault)
    patches = tuple(_file_patch(entry, fault) for entry in parsed)
    seen: dict[str, int] = {}
    for patch in patches:
        if patch.path in seen:
            raise fault(
                patch.line, f"{patch.path} is there twice, first at line {seen[patch.path]}"
            )
        seen[patch.path] = patch.line
    return patches


def _check_lines(parsed: unidiff.PatchSet, lines: list[str], first: int, fault: _Fault) -> None:
    """Refuse lines that unidiff skips: everything outside the hunks has to be known."""
    body = {line.diff_line_no for entry in parsed for hunk in entry for line in hunk}
    entry = -1
    path = named = ""
    for number, line in enumerate(lines[first - 1 :], first):
        if number in body:
            continue
        text = line[:-1]
        if text.endswith("\r"):
            raise fault(number, "the line ends in CRLF: save the patch with LF")
        if text.startswith("diff --git "):
            entry += 1
            path = _said(text)
            named = ""
        elif _BINARY.match(text):
            raise fault(number, f"{path}a binary patch: the series is text only")
        elif _RENAME.match(text):
            raise fault(number, f"{path}a rename or copy: make the diff with --no-renames")
        elif entry < 0:
            raise fault(number, f"expected 'diff --git', found {text!r}")
        elif text.startswith(("--- ", "+++ ")):
            named += text[0]
            side = parsed[entry].source_file if text[0] == "-" else parsed[entry].target_file
            if text[4:].split("\t")[0] != side:
                raise fault(number, f"{text!r} is not the path of its 'diff --git' line")
        elif _HUNK.fullmatch(text):
            if named != "-+":
                raise fault(number, f"{path}expected one '---' and one '+++' line above the hunk")
        elif text != _NO_NEWLINE and not _INDEX.fullmatch(text) and not _MODE.fullmatch(text):
            raise fault(number, f"{path}not a part of a git diff: {text!r}")


def _said(line: str) -> str:
    """The path that a `diff --git` line gives, as far as it can be told, for a message."""
    _, found, path = line.encode("latin-1").decode(errors="replace").partition(" b/")
    return f"{path}: " if found and path.isprintable() else ""


def _file_patch(entry: unidiff.PatchedFile, fault: _Fault) -> FilePatch:
    line = entry.diff_line_no or 1
    if entry.patch_info is None:
        raise fault(line, "expected a 'diff --git' line before '---'")
    path = _path(entry, lambda text: fault(line, text))
    modes: dict[str, str] = {}
    old_blob = new_blob = ""
    for text in entry.patch_info:
        if match := _MODE.match(text):
            if match[2] not in _MODES:
                raise fault(line, f"{path}: mode {match[2]}: only plain files can be patched")
            modes[match[1]] = match[2]
        elif match := _INDEX.match(text):
            old_blob, new_blob = match[1], match[2]
            if match[3] and match[3] not in _MODES:
                raise fault(line, f"{path}: mode {match[3]}: only plain files can be patched")
    status = "A" if "new file" in modes else "D" if "deleted file" in modes else "M"
    hunks: list[Hunk] = []
    for parsed in entry:
        hunk = _hunk(parsed, path, fault)
        if hunks and hunk.start < hunks[-1].start + len(hunks[-1].old):
            raise fault(hunk.line, f"{path}: the hunk lies before the end of the one above it")
        hunks.append(hunk)
    old_mode = modes.get("old", modes.get("deleted file", ""))
    new_mode = modes.get("new", modes.get("new file", ""))
    if status == "M" and (old_mode == "") != (new_mode == ""):
        raise fault(line, f"{path}: 'old mode' and 'new mode' go together")
    if status == "M" and not hunks and old_mode == new_mode:
        raise fault(line, f"{path}: there is no hunk: the patch is cut short or changes nothing")
    if status == "A" and any(hunk.old for hunk in hunks):
        raise fault(hunks[0].line, f"{path}: a new file cannot have old lines")
    if status == "D" and any(hunk.new for hunk in hunks):
        raise fault(hunks[0].line, f"{path}: a deleted file cannot have new lines")
    if status != "M" and len(hunks) > 1:
        raise fault(hunks[1].line, f"{path}: a new or deleted file has one hunk")
    return FilePatch(path, status, old_mode, new_mode, old_blob, new_blob, tuple(hunks), line)


def _hunk(parsed: unidiff.Hunk, path: str, fault: _Fault) -> Hunk:
    line = (parsed[0].diff_line_no or 1) - 1 if parsed else 1
    old: list[bytes] = []
    new: list[bytes] = []
    ended: list[list[bytes]] = []
    sides: list[list[bytes]] = []
    for entry in parsed:
        if entry.line_type == LINE_TYPE_NO_NEWLINE:
            for side in sides:
                side[-1] = side[-1].removesuffix(b"\n")
            ended += sides
            sides = []
            continue
        sides = [new] if entry.is_added else [old] if entry.is_removed else [old, new]
        # Nothing can follow a line that ends its file.
        if any(side is done for side in sides for done in ended):
            raise fault(line, f"{path}: a line follows 'No newline at end of file'")
        for side in sides:
            side.append(entry.value.encode("latin-1"))
    if old == new:
        raise fault(line, f"{path}: the hunk changes nothing")
    # With no old lines git counts from the line above.
    start = parsed.source_start - (1 if old else 0)
    if start < 0:
        raise fault(line, f"{path}: a hunk with old lines cannot start at line 0")
    return Hunk(start, tuple(old), tuple(new), line, parsed.added, parsed.removed)


def _path(entry: unidiff.PatchedFile, fault: Callable[[str], OverlayError]) -> str:
    """The path both sides name, once it is known to stay inside the tree."""
    source, target = entry.source_file, entry.target_file
    for name, prefix in ((source, "a/"), (target, "b/")):
        if name != _DEV_NULL and not name.startswith(prefix):
            raise fault(f"path {name!r}: expected one that begins with {prefix!r}")
    if _DEV_NULL not in (source, target) and source[2:] != target[2:]:
        raise fault(f"{source} becomes {target}: make the diff with --no-renames")
    raw = (target if source == _DEV_NULL else source)[2:]
    try:
        path = raw.encode("latin-1").decode()
    except UnicodeDecodeError:
        raise fault(f"path {raw!r} is not UTF-8") from None
    parts = path.split("/")
    if any(part in ("", ".", "..") or part.lower() == ".git" for part in parts):
        raise fault(f"path {path!r} leads out of the tree")
    if any(character in '"\\' or not character.isprintable() for character in path):
        raise fault(f"path {path!r} has a character that is not allowed")
    return path
