# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The software bill of materials inside the wheel (CycloneDX 1.6, in the place PEP 770 names)."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

FILE = "sboms/ternary-vllm.cdx.json"


def sbom(manifest: Mapping[str, Any], linked: Mapping[str, str]) -> dict[str, Any]:
    """The bill of materials for a wheel with this manifest, ready for JSON.

    `linked` maps packages whose code was compiled into the extension to their versions. The same
    manifest gives the same document: its serial number is made from it, and it bears no time.
    """
    version = manifest["version"]
    pin = manifest["pin"]
    reference = _purl("vllm", version)
    official = _component("vllm", pin["version"])
    official["hashes"] = [_hash(pin["wheel"]["sha256"])]
    wheel = _component("vllm", version)
    wheel["licenses"] = [{"license": {"id": "Apache-2.0"}}]
    wheel["pedigree"] = {
        "ancestors": [official],
        "patches": [_patch(patch) for patch in manifest["patches"]],
    }
    components = [_component(name, linked[name]) for name in sorted(linked)]
    if manifest["extension"]:
        extension = {
            "type": "file",
            "bom-ref": manifest["extension"]["file"],
            "name": manifest["extension"]["file"],
            "hashes": [_hash(manifest["extension"]["sha256"])],
        }
        components = [extension, *components]
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{_serial(manifest)}",
        "version": 1,
        "metadata": {"component": wheel},
        "components": components,
        "dependencies": [
            {"ref": reference, "dependsOn": [one["bom-ref"] for one in components]},
        ],
    }


def _component(name: str, version: str) -> dict[str, Any]:
    purl = _purl(name, version)
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}


def _patch(patch: Mapping[str, Any]) -> dict[str, Any]:
    """A patch as CycloneDX has it; what it has no field for is in the manifest."""
    kind = patch.get("kind")
    issue = {
        "type": "defect" if kind in ("fix", "backport") else "enhancement",
        "name": patch["name"],
        "description": patch.get("subject", patch["name"]),
    }
    if patch.get("bug"):
        issue["references"] = patch["bug"].split()
    return {"type": "backport" if kind == "backport" else "unofficial", "resolves": [issue]}


def _serial(manifest: Mapping[str, Any]) -> uuid.UUID:
    text = "\n".join(
        [manifest["version"], *(f"{path} {sha}" for path, sha in manifest["files"].items())]
    )
    return uuid.uuid5(uuid.NAMESPACE_URL, text)


def _purl(name: str, version: str) -> str:
    return f"pkg:pypi/{name}@{quote(version, safe='')}"


def _hash(sha256: str) -> dict[str, str]:
    return {"alg": "SHA-256", "content": sha256}
