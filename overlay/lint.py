# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Checks on the series, its headers and the form of its patches; no source tree is needed."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

from overlay.errors import OverlayError
from overlay.header import FIELDS, Header
from overlay.patchfile import Patch, read_patch, read_series, render
from overlay.paths import HERE, Workspace
from overlay.probe import parse_probe
from overlay.upstream import RELEASE, load_upstream, upstream_faults

KINDS = ("feature", "fix", "backport", "local")

REQUIRED = (
    "Subject", "Description", "Origin", "Forwarded", "Author", "Last-Update", "Kind",
    "Retires-When", "Test",
)  # fmt: skip
_URL = r"https?://\S+"
_REFERENCE = rf"(?:{_URL}|[\w.-]+/[\w.-]+#\d+)"
_COMMIT = r"commit:[0-9a-f]{7,40}"
_NODE = re.compile(r"(tests/patches/[\w./-]+\.py)((?:::\w+)*)(?:\[.*\])?")

# What a field's value, folded lines joined, has to look like, and how to say that.
_FORMS = {
    "Kind": ("|".join(KINDS), "one of " + ", ".join(KINDS)),
    "Origin": (
        rf"(?:upstream|backport|vendor|other)(?:, (?:{_COMMIT}|{_REFERENCE}))*",
        "'upstream', 'backport', 'vendor' or 'other', then perhaps ', ' and a reference",
    ),
    "Bug": (rf"{_REFERENCE}(?:,? {_REFERENCE})*", "a URL or owner/repository#number"),
    "Forwarded": (rf"no|not-needed|{_REFERENCE}", "'no', 'not-needed' or a reference"),
    "Author": (r"[^<>]+ <[^<>\s]+@[^<>\s]+>", "'Name <address>'"),
    "Applied-Upstream": (
        rf"(?:{RELEASE}|{_COMMIT}|{_REFERENCE})(?:, (?:{_COMMIT}|{_REFERENCE}))*",
        "a version, a commit or a reference",
    ),
}  # fmt: skip

Fault = Callable[[str, str], str]


def lint(workspace: Workspace = HERE) -> list[str]:
    """One line for each fault: file, line and what is expected; none when all is right."""
    folder = workspace.patches
    try:
        series = read_series(folder)
    except OverlayError as fault:
        return [str(fault)]
    faults = list(_files(folder, series))
    seen: dict[str, str] = {}
    patches: list[Patch] = []
    for number, file in enumerate(series, 1):
        if not (folder / file).is_file():
            continue  # said above
        try:
            patch = read_patch(folder, file)
        except OverlayError as fault:
            faults.append(str(fault))
            continue
        if not file.startswith(f"{number:04d}-"):
            faults.append(f"{file}: is number {number} of the series: export names it so")
        if patch.topic in seen:
            faults.append(f"{file}: has the same name as {seen[patch.topic]}")
        faults += _header(patch, list(seen), workspace.root)
        faults += _form(patch)
        seen[patch.topic] = file
        patches.append(patch)
    try:
        faults += upstream_faults(load_upstream(folder), patches)
    except OverlayError as fault:
        faults.append(str(fault))
    return faults


def _files(folder: Path, series: list[str]) -> Iterator[str]:
    for file in series:
        if not (folder / file).is_file():
            yield f"series: {file} is listed but there is no such file in patches/"
    for path in sorted(folder.iterdir()):
        if path.suffix in (".patch", ".diff") and path.name not in series:
            yield f"{path.name}: is not in patches/series"
        elif path.suffix in (".rej", ".orig"):
            yield f"{path.name}: is left over from a patch program: delete it"


def _header(patch: Patch, earlier: list[str], root: Path) -> Iterator[str]:
    header = patch.header

    def fault(field: str, text: str) -> str:
        return f"{patch.file}:{header.lines.get(field, 1)}: {field}: {text}"

    for field in header.fields:
        if field not in FIELDS and not field.startswith("X-"):
            near = difflib.get_close_matches(field, FIELDS, 1)
            yield fault(field, f"no such field{f': is it {near[0]}?' if near else ''}")
    for field in REQUIRED:
        if field not in header.fields:
            yield f"{patch.file}:1: {field}: is missing"
    for field in header.fields:
        if not header.entries(field):
            yield fault(field, "is empty")
    for field, (form, words) in _FORMS.items():
        value = " ".join(header.entries(field))
        if value and not re.fullmatch(form, value):
            yield fault(field, f"expected {words}, found {value!r}")
    if "\n" in header.fields.get("Subject", ""):
        yield fault("Subject", "is one line")
    yield from _date(header, fault)
    for topic in header.entries("Depends"):
        if topic not in earlier:
            yield fault("Depends", f"{topic!r} is no patch before this one")
    kind = header.fields.get("Kind", "")
    if kind in ("fix", "backport") and "Retire-Probe" not in header.fields:
        yield fault("Kind", f"a {kind} needs a Retire-Probe, so that its end is noticed")
    if kind == "backport" and "Applied-Upstream" not in header.fields:
        yield fault("Kind", "a backport needs Applied-Upstream")
    for entry in header.entries("Retire-Probe"):
        try:
            parse_probe(entry)
        except OverlayError as error:
            yield fault("Retire-Probe", str(error))
    for entry in header.entries("Test"):
        if problem := _node(entry, root):
            yield fault("Test", problem)


def _date(header: Header, fault: Fault) -> Iterator[str]:
    value = header.fields.get("Last-Update", "").strip()
    if not value:
        return
    try:
        right = date.fromisoformat(value).isoformat() == value
    except ValueError:
        right = False
    if not right:
        yield fault("Last-Update", f"expected a day as 2026-01-31, found {value!r}")


def _node(entry: str, root: Path) -> str:
    """What is wrong with a pytest node, or an empty string."""
    match = _NODE.fullmatch(entry)
    if not match:
        return f"expected a pytest node under tests/patches/, found {entry!r}"
    path = root / match[1]
    if not path.is_file():
        return f"there is no {match[1]}"
    try:
        body = ast.parse(path.read_text(encoding="utf-8")).body
    except (SyntaxError, UnicodeDecodeError):
        return f"{match[1]} is not Python"
    for name in match[2].split("::")[1:]:
        found = next((node for node in body if getattr(node, "name", "") == name), None)
        if found is None:
            return f"{match[1]} has no {name}"
        body = getattr(found, "body", [])
    return ""


def _form(patch: Patch) -> Iterator[str]:
    """Where a patch is not as export would write it, as far as that shows without a tree."""
    for file in patch.files:
        if len(file.old_blob) < 40 and (file.hunks or file.status != "M"):
            yield f"{patch.file}:{file.line}: {file.path}: no full index line: export writes one"
            return
    if render(patch.header, patch.diff) != patch.data:
        yield f"{patch.file}: is not in canonical form (order of fields, summary): export writes it"
