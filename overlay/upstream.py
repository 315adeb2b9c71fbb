# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The upstream lock, patches/upstream.yaml: what is known of each reference that a header names.

It is data that a person looks up and writes down, with the day; nothing here asks the network.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import yaml
from packaging.version import Version

from overlay.errors import UsageError
from overlay.patchfile import Patch

FILE = "upstream.yaml"
RELEASE = r"v?(\d+(?:\.\d+)+(?:(?:a|b|rc|\.post)\d+)?)"  # the version is its one group
# The states of each kind of reference.
STATES = {
    "issue": ("open", "closed"),
    "pull-request": ("open", "merged", "closed"),
    "commit": ("merged",),
}

_FIELDS = ("Origin", "Bug", "Forwarded", "Applied-Upstream")
_SHORT = re.compile(r"[\w.-]+/[\w.-]+#\d+")
_LONG = re.compile(r"https?://[^/\s]+/([\w.-]+/[\w.-]+)/(?:pull|issues)/(\d+)/?")
_COMMIT = re.compile(r"commit:[0-9a-f]{7,40}")
_RELEASE = re.compile(RELEASE)
_KEYS = ("kind", "state", "title", "looked-at", "merged-as", "first-release")


@dataclass(frozen=True)
class Reference:
    """An upstream issue, pull request or commit as it was on the day it was looked at.

    `merged_as` is the commit and `first_release` the version that has it, or empty while unknown.
    """

    name: str
    kind: str
    state: str
    title: str
    looked_at: date
    merged_as: str
    first_release: str

    def in_release(self, version: str) -> bool:
        """Whether it is known to be in a version of vLLM."""
        return bool(self.first_release) and not_after(self.first_release, version)

    def describe(self) -> str:
        """Kind and state in a few words, with the day."""
        words = f"{self.kind.replace('-', ' ')}, {self.state}"
        if self.first_release:
            words += f", in {self.first_release}"
        return f"{words} ({self.looked_at.isoformat()})"


Lock = Mapping[str, Reference]


def load_upstream(patches: Path) -> Lock:
    """Read upstream.yaml in the folder of patches; without one nothing is known.

    Raises UsageError naming the entry that is not right.
    """
    path = patches / FILE
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as fault:
        raise UsageError(f"{path}: {fault.strerror}") from fault
    except (yaml.YAMLError, UnicodeDecodeError, ValueError) as fault:
        raise UsageError(f"{FILE}: not YAML: {' '.join(str(fault).split())}") from fault
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise UsageError(f"{FILE}: expected entries like 'owner/repository#1: {{kind: ...}}'")
    return {str(name): _reference(str(name), entry) for name, entry in data.items()}


def references(patch: Patch, fields: Sequence[str] = _FIELDS) -> list[str]:
    """The upstream references in a patch's header, each once, as upstream.yaml names them."""
    found: dict[str, None] = {}
    for field in fields:
        for word in re.split(r"[,\s]+", patch.header.fields.get(field, "")):
            if (long := _LONG.fullmatch(word)) is not None:
                found[f"{long[1]}#{long[2]}"] = None
            elif _SHORT.fullmatch(word) or _COMMIT.fullmatch(word):
                found[word] = None
    return list(found)


def applied_release(patch: Patch) -> str:
    """The version that Applied-Upstream names, or an empty string."""
    text = " ".join(patch.header.entries("Applied-Upstream"))
    match = _RELEASE.fullmatch(text.partition(",")[0])
    return match[1] if match else ""


def not_after(release: str, version: str) -> bool:
    """Whether a release came with or before a version."""
    return Version(release) <= Version(version)


def upstream_faults(lock: Lock, patches: Sequence[Patch]) -> Iterator[str]:
    """One line for each way in which headers and lock do not agree."""
    named: set[str] = set()
    for patch in patches:
        for field in _FIELDS:
            where = f"{patch.file}:{patch.header.lines.get(field, 1)}: {field}"
            for name in references(patch, (field,)):
                named.add(name)
                if name not in lock:
                    yield f"{where}: {name} is not in {FILE}: look it up and write it down there"
                else:
                    yield from (f"{where}: {text}" for text in _disagrees(patch, field, lock[name]))
    for name in lock:
        if name not in named:
            yield f"{FILE}: {name}: no patch names it: take it out"


def _disagrees(patch: Patch, field: str, reference: Reference) -> Iterator[str]:
    merged, said = reference.state == "merged", applied_release(patch)
    if field == "Forwarded" and merged and "Applied-Upstream" not in patch.header.fields:
        yield f"{reference.name} was merged: the patch needs an Applied-Upstream"
    if field == "Applied-Upstream" and not merged:
        yield f"{FILE} says that {reference.name} is {reference.state}, not merged"
    first = reference.first_release
    if field != "Bug" and merged and said and first and Version(said) != Version(first):
        yield f"{reference.name} came with {first}, the patch's Applied-Upstream says {said}"


def _reference(name: str, entry: Any) -> Reference:
    def fault(text: str) -> UsageError:
        return UsageError(f"{FILE}: {name}: {text}")

    if not _SHORT.fullmatch(name) and not _COMMIT.fullmatch(name):
        raise fault("expected owner/repository#number or commit:hash")
    if not isinstance(entry, dict):
        raise fault("expected kind, state, looked-at and what else is known")
    for key in entry:
        if key not in _KEYS:
            raise fault(f"no such key: {key!r} (there are {', '.join(_KEYS)})")
    kind, state = entry.get("kind"), entry.get("state")
    if kind not in STATES:
        raise fault(f"kind: expected one of {', '.join(STATES)}, found {kind!r}")
    if state not in STATES[kind]:
        raise fault(f"state: expected one of {', '.join(STATES[kind])}, found {state!r}")
    looked_at = entry.get("looked-at")
    if type(looked_at) is not date:
        raise fault(f"looked-at: expected a day as 2026-01-31, found {looked_at!r}")
    title, merged_as = entry.get("title", ""), entry.get("merged-as", "")
    first = entry.get("first-release", "")
    if not isinstance(title, str):
        raise fault(f"title: expected text, found {title!r}")
    if merged_as and not re.fullmatch(r"[0-9a-f]{7,40}", str(merged_as)):
        raise fault(f"merged-as: expected a commit, found {merged_as!r}")
    if first and not (isinstance(first, str) and _RELEASE.fullmatch(first)):
        raise fault(f"first-release: expected a version in quotes, found {first!r}")
    if (merged_as or first) and state == "open":
        raise fault("is open, and yet merged")
    return Reference(
        name, kind, state, title, looked_at, str(merged_as), str(first).removeprefix("v")
    )
