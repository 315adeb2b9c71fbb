# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A small project whose official wheel is at hand, to build wheels of without a compiler."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from fake_wheel import ENTRY_POINTS, METADATA, VERSION, WHEEL, write_wheel
from small_project import Project

from overlay import build
from overlay.compiler import Toolchain
from overlay.paths import cache_dir
from overlay.pin import Artifact

SOURCE = {
    "vllm/__init__.py": "import os\n",
    "vllm/old.py": "OLD = 1\n",
    "vllm/config.json": "{}\n",
    "csrc/torch_bindings.cpp": "int main;\n",
    "docs/index.md": "Hello.\n",
    "requirements/common.txt": "regex\n",
    "pyproject.toml": '[project]\nname = "vllm"\n[project.scripts]\nvllm = "vllm.cli:main"\n',
}
INFO = "vllm-0.32.0+ternary.1.dist-info/"
NOWHERE = Path("/nowhere")
# Never started: no patch of these projects adds an extension.
TOOLCHAIN = Toolchain(
    nvcc=NOWHERE,
    cuda_include=NOWHERE,
    cuda_libraries=NOWHERE,
    cuda_version="13.0.88",
    cxx=NOWHERE,
    cxx_version="g++ 12",
    python=NOWHERE,
    torch_headers=NOWHERE,
    torch_version="2.13.0",
)


class SmallBuild(Project):
    """A Project with vLLM's layout and an official wheel in the cache."""

    def __init__(self, root: Path) -> None:
        root.mkdir()
        super().__init__(root, SOURCE)
        files = {name: text.encode() for name, text in SOURCE.items() if name.startswith("vllm/")}
        self.set_official(files)
        self.archs = ["8.0"]

    def set_official(self, files: dict[str, bytes]) -> None:
        """Make these, and the metadata, the official wheel."""
        name = "vllm-0.32.0-cp38-abi3-manylinux_2_28_x86_64.whl"
        info = "vllm-0.32.0.dist-info/"
        version = VERSION.replace(b"1.2.3", b"0.32.0").replace(b"(1, 2, 3)", b"(0, 32, 0)")
        metadata = METADATA.replace(b"1.2.3", b"0.32.0")
        everything = {
            **files,
            "vllm/_version.py": version,
            f"{info}METADATA": metadata,
            f"{info}WHEEL": WHEEL,
            f"{info}entry_points.txt": ENTRY_POINTS,
        }
        draft = write_wheel(self.root / name, everything)
        digest = hashlib.sha256(draft.read_bytes()).hexdigest()
        (cache_dir() / digest).mkdir(parents=True)
        draft.rename(cache_dir() / digest / name)
        artifact = Artifact("vllm", "0.32.0", name, digest)
        self.pin = dataclasses.replace(self.pin, wheel=artifact)

    @property
    def dist(self) -> Path:
        return self.workspace.root / "dist"

    def build(self) -> tuple[Path, bool]:
        """Apply and build: the wheel, and whether it was made now."""
        return build.build_wheel(self.pin, self.apply(), self.workspace, self.archs, 1)

    def run(self, monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
        """build.sh with these words; any machine will do."""
        monkeypatch.setattr(build, "load_pin", lambda path: self.pin)
        monkeypatch.setattr(build.compiler, "check_machine", lambda: None)
        build.run(build.parse_arguments(["--archs", *self.archs, *words]), self.workspace)

    def contents(self) -> dict[str, bytes]:
        """The built wheel's members."""
        with zipfile.ZipFile(self.build()[0]) as archive:
            return {name: archive.read(name) for name in archive.namelist()}

    def manifest(self) -> Any:
        """The manifest in the built wheel."""
        return json.loads(self.contents()[f"{INFO}ternary-manifest.json"])
