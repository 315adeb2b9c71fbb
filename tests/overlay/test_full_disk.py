# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""On a disk that is full each command says so in one line, and nothing is left half-written."""

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fake_wheel import write_wheel
from small_project import Project, numbered

from overlay.errors import OverlayError
from overlay.export import export
from overlay.fetch import fetch
from overlay.files import sha256
from overlay.paths import cache_dir
from overlay.pin import Artifact
from overlay.tree import unapply

FREE = (0, 4096, 8192, 16384, 32768, 65536)


@pytest.fixture
def small_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file system of two megabytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    options = ("-t", "tmpfs", "-o", "size=2m,nr_inodes=2k", "tmpfs", str(disk))
    if subprocess.run(("mount", *options), capture_output=True).returncode:
        pytest.skip("needs the right to mount a file system")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    yield disk
    subprocess.run(("umount", str(disk)), check=True)


@contextlib.contextmanager
def filled(disk: Path, free: int) -> Iterator[None]:
    """The disk with only so many bytes free."""
    filler = disk / "filler"
    usage = os.statvfs(disk)
    filler.write_bytes(bytes(max(usage.f_bavail * usage.f_frsize - free, 0)))
    yield
    filler.unlink()


def refused(work: Callable[[], object]) -> bool:
    """Run it; whether it was refused, which has to be in one line about the disk."""
    try:
        work()
    except OverlayError as fault:
        assert "\n" not in str(fault)
        assert "no space left on the disk of" in str(fault) or "free on its disk" in str(fault)
        return True
    return False


def test_apply_and_unapply(small_disk: Path) -> None:
    project = Project(small_disk)
    project.apply_nothing()
    text = "".join(f"some words, {number}\n" for number in range(2000))
    project.add_patch("first", {"a.py": numbered(line_3="3"), "deep/new.py": text, "b.py": None})
    states = [project.state()]
    project.apply()
    states.append(project.state())

    def back() -> None:
        unapply(project.pin, project.workspace)

    for old, work, undo in ((0, project.apply, back), (1, back, project.apply)):
        undo()
        for free in FREE:
            with filled(small_disk, free):
                said = refused(work)
                assert project.state() == states[old if said else 1 - old], free
                assert said or free
            undo()
            assert project.state() == states[old], free


def test_import(small_disk: Path) -> None:
    project = Project(small_disk)
    said = []
    for free in FREE:
        with filled(small_disk, free):
            said.append(refused(project.apply))
            assert not said[-1] or not project.tree.exists(), free
            assert not (project.workspace.work / "vllm.new").exists(), free
    assert said[0]
    project.apply()
    assert project.tree_id() == project.model_id()


def test_export(small_disk: Path) -> None:
    project = Project(small_disk)
    project.apply_nothing()
    (project.tree / "b.py").write_text("".join(f"{number}\n" for number in range(3000)))
    project.git("commit", "-q", "-a", "-m", "first: b")
    before = project.patch_files()
    with filled(small_disk, 4096):
        assert refused(lambda: export(project.pin, project.workspace))
        assert project.patch_files() == before
        assert not list(project.workspace.root.glob(".patches*"))
    export(project.pin, project.workspace)
    assert not export(project.pin, project.workspace, check=True).stale


def test_cache(small_disk: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    files = {
        "other.py": os.urandom(100_000),
        "other-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: other\nVersion: 1.0\n",
        "other-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nTag: py3-none-any\n",
    }
    wheel = write_wheel(shelf / "other-1.0-py3-none-any.whl", files)
    monkeypatch.setenv("XDG_CACHE_HOME", str(small_disk))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    wanted = Artifact("other", "1.0", wheel.name, sha256(wheel))
    cache_dir().mkdir()
    for free in (0, 32768):
        with filled(small_disk, free):
            assert refused(lambda: fetch(wanted))
            assert {path.name for path in cache_dir().iterdir()} <= {"lock"}
    assert sha256(fetch(wanted)) == wanted.sha256
