# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The manifest inside the wheel: what it is made from and what differs from the official one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from typing import Any

from overlay.errors import OverlayError
from overlay.extension import Extension
from overlay.pin import Artifact, Pin
from overlay.tree import AppliedSeries

FILE = "ternary-manifest.json"
FORMAT = 1

# What `verify` reads.
_NEEDED = ("version", "patches", "extension", "files", "removed")
# Of a patch's header, what tells the state it is in upstream.
_HEADER = (
    "Kind", "Subject", "Origin", "Bug", "Forwarded", "Applied-Upstream", "Retires-When",
)  # fmt: skip


def manifest(
    pin: Pin,
    series: AppliedSeries,
    extension: Extension | None,
    added: Mapping[str, bytes],
    gone: Collection[str],
) -> dict[str, Any]:
    """The manifest of a wheel, ready for JSON.

    `added` and `gone` are the paths in the wheel that differ from the official one, with their
    contents. Everything the bytes of the wheel depend on is here.
    """
    return {
        "format": FORMAT,
        "name": "vllm",
        "version": pin.wheel_version,
        "pin": {
            "version": pin.version,
            "tag": pin.tag,
            "commit": pin.commit,
            "torch": pin.torch,
            "source": _artifact(pin.sdist),
            "wheel": _artifact(pin.wheel),
        },
        "patches": [
            {
                "name": patch.name,
                "file": patch.file,
                "sha256": patch.sha256,
                **{name.lower(): patch.header[name] for name in _HEADER if patch.header.get(name)},
                "changes": patch.changed,
            }
            for patch in series.patches
        ],
        "extension": None
        if extension is None
        else {
            "file": f"vllm/{extension.path.name}",
            "sha256": extension.sha256,
            "architectures": list(extension.archs),
            "compilers": extension.compilers,
        },
        "files": {path: hashlib.sha256(added[path]).hexdigest() for path in sorted(added)},
        "removed": sorted(gone),
    }


def serialize(data: Mapping[str, Any]) -> bytes:
    """JSON that is the same for the same data and can be read by a person."""
    return (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode()


def parse(data: bytes, name: str) -> dict[str, Any]:
    """The manifest in a wheel. Raises OverlayError, naming the wheel, when it is none of ours."""
    try:
        found = json.loads(data)
    except ValueError as fault:
        raise OverlayError(f"{name}: {FILE} is not JSON: {fault}") from fault
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise OverlayError(f"{name}: {FILE} is not of format {FORMAT}: use the tool that built it")
    if lacking := [key for key in _NEEDED if key not in found]:
        raise OverlayError(f"{name}: {FILE} has no {lacking[0]!r}")
    return found


def _artifact(artifact: Artifact) -> dict[str, str]:
    return {"file": artifact.file, "sha256": artifact.sha256}
