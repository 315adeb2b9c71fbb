# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The series is laid over the official wheel, and the wheel says what is in it."""

import hashlib

from small_build import INFO, SmallBuild

from overlay.verify import verify


def _patched(project: SmallBuild) -> SmallBuild:
    project.add_patch("change", {"vllm/__init__.py": "import sys\n", "docs/index.md": "Bye.\n"})
    project.add_patch("more", {"vllm/new.py": "NEW = 1\n", "vllm/old.py": None})
    return project


def test_files(small: SmallBuild) -> None:
    found = _patched(small).contents()
    assert found["vllm/__init__.py"] == b"import sys\n"
    assert found["vllm/new.py"] == b"NEW = 1\n"
    assert found["vllm/config.json"] == b"{}\n"
    assert "vllm/old.py" not in found
    assert not any(name.startswith("docs") for name in found)


def test_version(small: SmallBuild) -> None:
    found = _patched(small).contents()
    assert b"\nVersion: 0.32.0+ternary.1\n" in found[f"{INFO}METADATA"]
    assert b"version = '0.32.0+ternary.1'" in found["vllm/_version.py"]
    assert found[f"{INFO}WHEEL"].endswith(b"\nTag: cp38-abi3-manylinux_2_28_x86_64\n")


def test_verifies(small: SmallBuild) -> None:
    wheel, fresh = _patched(small).build()
    assert fresh
    assert wheel.name == "vllm-0.32.0+ternary.1-cp38-abi3-manylinux_2_28_x86_64.whl"
    assert verify(wheel).faults == []
    assert [path.name for path in small.dist.iterdir()] == [wheel.name]


def test_manifest(small: SmallBuild) -> None:
    manifest = _patched(small).manifest()
    files = {"vllm/__init__.py": b"import sys\n", "vllm/new.py": b"NEW = 1\n"}
    for path, data in files.items():
        assert manifest["files"][path] == hashlib.sha256(data).hexdigest()
    assert set(manifest["files"]) == {*files, "vllm/_version.py"}
    assert manifest["removed"] == ["vllm/old.py"]
    assert [patch["kind"] for patch in manifest["patches"]] == ["local", "local"]
    assert manifest["patches"][0]["changes"] == ["docs/index.md", "vllm/__init__.py"]
    file = small.patches / manifest["patches"][1]["file"]
    assert manifest["patches"][1]["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert manifest["pin"]["wheel"]["sha256"] == small.pin.wheel.sha256
    assert manifest["extension"] is None


def test_empty_series(small: SmallBuild) -> None:
    assert set(small.manifest()["files"]) == {"vllm/_version.py"}
