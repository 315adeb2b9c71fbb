# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The bill of materials names the official wheel, the patches and what is linked in."""

from typing import Any

from overlay.sbom import sbom

MANIFEST: dict[str, Any] = {
    "version": "1.2.3+ternary.1",
    "pin": {"version": "1.2.3", "wheel": {"sha256": "a" * 64}},
    "patches": [
        {"name": "0001-fix", "kind": "backport", "subject": "Repair it", "bug": "one two"},
        {"name": "0002-new", "kind": "feature", "subject": "Add it"},
    ],
    "extension": {"file": "vllm/_x.so", "sha256": "b" * 64},
    "files": {"vllm/_x.so": "b" * 64},
}


def test_pedigree() -> None:
    component = sbom(MANIFEST, {})["metadata"]["component"]
    assert component["purl"] == "pkg:pypi/vllm@1.2.3%2Bternary.1"
    assert component["pedigree"]["ancestors"][0]["purl"] == "pkg:pypi/vllm@1.2.3"
    assert component["pedigree"]["ancestors"][0]["hashes"][0]["content"] == "a" * 64
    patches = component["pedigree"]["patches"]
    assert [patch["type"] for patch in patches] == ["backport", "unofficial"]
    assert [patch["resolves"][0]["type"] for patch in patches] == ["defect", "enhancement"]
    assert patches[0]["resolves"][0]["references"] == ["one", "two"]


def test_components() -> None:
    found = sbom(MANIFEST, {"nvidia-cuda-runtime": "13.0.96"})
    names = [one["name"] for one in found["components"]]
    assert names == ["vllm/_x.so", "nvidia-cuda-runtime"]
    assert found["dependencies"][0]["dependsOn"] == [one["bom-ref"] for one in found["components"]]


def test_without_extension() -> None:
    assert sbom({**MANIFEST, "extension": None}, {})["components"] == []


def test_serial_number_follows_the_contents() -> None:
    first = sbom(MANIFEST, {})
    assert sbom(MANIFEST, {}) == first
    other = sbom({**MANIFEST, "files": {"vllm/_x.so": "c" * 64}}, {})
    assert other["serialNumber"] != first["serialNumber"]
