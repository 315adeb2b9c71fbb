# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Reading a patch from elsewhere: a mail of git format-patch, a DEP-3 patch, or a plain diff."""

from __future__ import annotations

import contextlib
import email
import email.policy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path

from overlay.diff import FilePatch, parse_diff
from overlay.errors import OverlayError, UsageError
from overlay.header import FIELDS, parse_header, slug

_MAIL = re.compile(rb"From [0-9a-f]{40} .*\n|(?=(?:.+\n)*Date: )(?=(?:.+\n)*From: )")
_SECOND = re.compile(rb"^From [0-9a-f]{40} Mon Sep 17 00:00:00 2001$", re.MULTILINE)
_TAG = re.compile(r"^\[PATCH[^]]*\]\s*")
_DIFF = re.compile(rb"^(?:diff --git |Index: |diff -|--- [^\n]+\n\+\+\+ )", re.MULTILINE)
_SIGNATURE = re.compile(rb"^-- \n\d+\.[^\n]*\s*\Z", re.MULTILINE)
_OLD_NEW = re.compile(rb"--- ([^\t\n]+)[^\n]*\n\+\+\+ ([^\t\n]+)[^\n]*\n")
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
# DEP-3's other names of our fields.
_SAME = {"From": "Author"}


@dataclass(frozen=True)
class Foreign:
    """A patch from elsewhere: the name its title gives, the fields it has, and its diff."""

    topic: str
    fields: dict[str, str]
    diff: bytes
    files: tuple[FilePatch, ...]


def read(path: Path) -> Foreign:
    """Read a patch file of any of the known forms.

    Raises OverlayError naming file and line for what is no whole text diff with git's prefixes.
    """
    try:
        data = path.read_bytes()
    except OSError as fault:
        raise UsageError(f"{path}: {fault.strerror}") from fault
    if len(_SECOND.findall(data)) > 1:
        raise OverlayError(f"{path.name}: holds more than one patch: split it (git mailsplit)")
    if _MAIL.match(data):
        fields, data, skipped = _mail(path.name, data)
    else:
        fields, skipped = {}, 0
    start = _DIFF.search(data)
    if start is None:
        raise OverlayError(f"{path.name}: there is no diff in it")
    head = data[: start.start()]
    first = skipped + head.count(b"\n") + 1
    fields |= _head(path.name, head, mail=bool(fields))
    fields.setdefault("Subject", path.stem.replace("-", " ").replace("_", " "))
    fields.setdefault("Origin", "other")
    diff = _with_git_lines(_SIGNATURE.sub(b"", data[start.start() :]))
    return Foreign(slug(fields["Subject"]), fields, diff, parse_diff(path.name, diff, first))


def _mail(name: str, data: bytes) -> tuple[dict[str, str], bytes, int]:
    """Fields of a mail, its body, and how many lines stand before that."""
    message = email.message_from_bytes(data, policy=email.policy.default)
    if message.is_multipart():
        raise OverlayError(f"{name}: the mail has attachments: save the patch itself")
    subject = _TAG.sub("", " ".join(str(message["Subject"] or "").split()))
    body = message.get_payload(decode=True)
    assert isinstance(body, bytes)
    fields = {"Subject": subject} if subject else {}
    author = " ".join(str(message["From"] or "").split())
    if author:
        fields["Author"] = author.replace('"', "")
    if message["Date"]:
        with contextlib.suppress(ValueError):  # lint asks for it
            fields["Last-Update"] = parsedate_to_datetime(str(message["Date"])).date().isoformat()
    return fields, body, data.count(b"\n") - body.count(b"\n")


def _head(name: str, head: bytes, mail: bool) -> dict[str, str]:
    """The fields that the text above a diff gives: DEP-3's, or prose for the Description."""
    try:
        text = head.decode()
    except UnicodeDecodeError:
        raise OverlayError(f"{name}: the text above the diff is not UTF-8") from None
    text = text.replace("\r\n", "\n").strip("\n")
    # format-patch puts `---` and a summary of files after the message.
    text = re.split(r"^---\s*$", text, maxsplit=1, flags=re.MULTILINE)[0].strip("\n")
    if not mail:
        named = re.match(r"([A-Za-z][A-Za-z-]*):", text)
        if named and (named[1] in FIELDS or named[1] in _SAME or named[1].startswith("Bug-")):
            return _dep3(name, text)
    return {"Description": _folded(text)} if text else {}


def _dep3(name: str, text: str) -> dict[str, str]:
    """DEP-3's fields under our names; what follows the first blank line is more Description."""
    block, _, prose = text.partition("\n\n")
    fields: dict[str, str] = {}
    for field, value in parse_header(name, block + "\n").fields.items():
        ours = _SAME.get(field, field)
        fields[ours if ours in FIELDS else f"X-{ours.removeprefix('X-')}"] = value
    described = fields.get("Description", "")
    if "Subject" not in fields and described:
        fields["Subject"], _, described = described.partition("\n")
    parts = [part for part in (described.strip("\n"), _folded(prose.strip("\n"))) if part]
    fields["Description"] = "\n.\n".join(parts)
    return fields


def _folded(text: str) -> str:
    return "\n".join(line.rstrip() or "." for line in text.split("\n")) if text else ""


def _with_git_lines(diff: bytes) -> bytes:
    """The diff with a `diff --git` line for each file, as git writes one."""
    if re.search(rb"^diff --git ", diff, re.MULTILINE):
        return diff
    return b"".join(_git_lines(diff))


def _git_lines(diff: bytes) -> Iterator[bytes]:
    lines = diff.splitlines(keepends=True)
    index = 0
    while index < len(lines):
        pair = _OLD_NEW.match(b"".join(lines[index : index + 2]))
        if pair is None:
            # What stands between files: `Index:`, `=====`, `diff -ru ...`, `Only in ...`.
            index += 1
            continue
        old, new = _prefixed(pair[1], b"a/"), _prefixed(pair[2], b"b/")
        path = (new if old == b"/dev/null" else old)[2:]
        yield b"diff --git a/%s b/%s\n" % (path, path)
        if old == b"/dev/null":
            yield b"new file mode 100644\n"
        elif new == b"/dev/null":
            yield b"deleted file mode 100644\n"
        yield b"--- %s\n+++ %s\n" % (old, new)
        index += 2
        while index < len(lines) and (hunk := _HUNK.match(lines[index])):
            yield lines[index]
            index += 1
            left = [int(count) if count is not None else 1 for count in hunk.groups()]
            while index < len(lines) and (any(left) or lines[index].startswith(b"\\")):
                sign = lines[index][:1]
                left[0] -= sign in (b" ", b"-", b"\n")
                left[1] -= sign in (b" ", b"+", b"\n")
                yield lines[index]
                index += 1


def _prefixed(path: bytes, prefix: bytes) -> bytes:
    """A path with git's prefix in place of its first folder (`vllm-0.32.0.orig/x`, `a/x`)."""
    if path == b"/dev/null":
        return path
    return prefix + path.partition(b"/")[2] if b"/" in path else prefix + path
