# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""An sdist comes through pip with the user's configuration, unbuilt, and is cached."""

import hashlib

import pytest
from small_project import Project, sdist

from overlay.fetch import fetch
from overlay.paths import cache_dir
from overlay.pin import Artifact

# Building it would end pip's run.
SOURCE = {
    "PKG-INFO": "Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0\n",
    "setup.py": "raise SystemExit('the build was run')\n",
    "pyproject.toml": (
        "[build-system]\nrequires = ['no-such-package']\nbuild-backend = 'setuptools.build_meta'\n"
    ),
}


def offered(project: Project, monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    """Offer an sdist with these bytes to pip, and nothing else."""
    shelf = project.root / "shelf"
    shelf.mkdir(exist_ok=True)
    (shelf / "vllm-0.32.0.tar.gz").write_bytes(data)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))


def test_cached_then_offline(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    data = sdist(SOURCE)
    artifact = Artifact("vllm", "0.32.0", "vllm-0.32.0.tar.gz", hashlib.sha256(data).hexdigest())
    offered(project, monkeypatch, data)
    path = fetch(artifact)
    assert path.read_bytes() == data
    (project.root / "shelf" / artifact.file).unlink()
    assert fetch(artifact) == path
    assert sorted(entry.name for entry in cache_dir().iterdir() if "partial" in entry.name) == []
