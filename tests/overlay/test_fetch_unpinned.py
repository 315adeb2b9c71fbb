# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A version whose hash is not pinned comes through pip all the same, once, and is said to be so."""

from __future__ import annotations

import pytest
from small_project import Project, sdist
from test_fetch_through_pip import SOURCE

from overlay.errors import OverlayError
from overlay.fetch import fetch_unpinned
from overlay.git import Git
from overlay.versions import pristine


def shelf(project: Project, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    """Offer an sdist of a version to pip, and nothing else."""
    folder = project.root / "shelf"
    folder.mkdir()
    source = {**SOURCE, "PKG-INFO": SOURCE["PKG-INFO"].replace("0.32.0", version)}
    (folder / f"vllm-{version}.tar.gz").write_bytes(sdist(source, version))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))


def test_fetched_once(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf(project, monkeypatch, "0.34.0")
    path = fetch_unpinned("vllm", "0.34.0")
    (project.root / "shelf" / "vllm-0.34.0.tar.gz").unlink()
    assert fetch_unpinned("vllm", "0.34.0") == path


def test_it_is_said(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf(project, monkeypatch, "0.34.0")
    project.apply()
    assert not pristine(Git(project.tree), "0.34.0", project.pin).pinned


def test_version_written_otherwise(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf(project, monkeypatch, "0.34.0")
    words = r"^vllm-0\.34\.tar\.gz: pip has vllm-0\.34\.0\.tar\.gz: name it so$"
    with pytest.raises(OverlayError, match=words):
        fetch_unpinned("vllm", "0.34")


def test_version_that_is_not_there(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf(project, monkeypatch, "0.34.0")
    with pytest.raises(OverlayError, match=r"pip finds no vllm 0\.35\.0: is there a network"):
        fetch_unpinned("vllm", "0.35.0")
