# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Whatever the trees, the series and the damage: what git gives by hand, or nothing at all."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from random_series import Tree, damaged, series
from small_project import Project

from overlay.errors import OverlayError
from overlay.export import export
from overlay.tree import unapply

SETTINGS = settings(
    max_examples=50,
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)


@contextmanager
def made(trees: list[Tree]) -> Iterator[Project]:
    """A project pinned to the first tree, with the patches that git makes of the others."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", f"{folder}/cache")
        project = Project(Path(folder), {path: file.data for path, file in trees[0].items()})
        project.apply_nothing()
        for number, (old, new) in enumerate(pairwise(trees), 1):
            for path, file in new.items():
                place = project.model / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.touch()
                place.chmod(0o755 if file.executable else 0o644)
            changes = {path: file.data for path, file in new.items()}
            project.add_patch(f"step-{number}", changes | dict.fromkeys(old.keys() - new.keys()))
        yield project


def found(project: Project) -> dict[str, tuple[int, bytes]]:
    return {path: (bool(mode), data) for path, (mode, data) in project.files().items()}


def wanted(tree: Tree) -> dict[str, tuple[int, bytes]]:
    return {path: (file.executable, file.data) for path, file in tree.items()}


@SETTINGS
@given(series())
def test_whole(trees: list[Tree]) -> None:
    with made(trees) as project:
        before, patches = project.state(), project.patch_files()
        applied = project.apply()
        assert found(project) == wanted(trees[-1])
        for back, patch in enumerate(reversed(applied.patches)):
            assert project.tree_id(patch.commit) == project.model_id(f"HEAD~{back}")
        assert project.git("status", "--porcelain", "--ignored") == ""
        assert not export(project.pin, project.workspace).stale
        assert project.patch_files() == patches
        assert unapply(project.pin, project.workspace)
        assert project.state() == before


@SETTINGS
@given(series(), st.data())
def test_damaged(trees: list[Tree], data: st.DataObject) -> None:
    with made(trees) as project:
        files = sorted(path for path in project.patches.glob("*.patch"))
        chosen = data.draw(st.sampled_from(files))
        whole = chosen.read_bytes()
        chosen.write_bytes(data.draw(damaged(whole)))
        before = project.everything()
        try:
            applied = project.apply()
        except OverlayError as fault:
            assert "\n" not in str(fault)
            assert str(fault).split(":")[0] in [file.name for file in files[files.index(chosen) :]]
            assert project.everything() == before
            return
        if index_lines(chosen.read_bytes()) == index_lines(whole):
            assert found(project) == wanted(trees[-1])
        project.model_git("reset", "-q", "--hard", f"HEAD~{len(files)}")
        for file, patch in zip(files, applied.patches, strict=True):
            by_hand(project, file)
            assert project.tree_id(patch.commit) == project.model_git("write-tree").decode().strip()


def index_lines(patch: bytes) -> list[bytes]:
    return [line for line in patch.splitlines() if line.startswith(b"index ")]


def by_hand(project: Project, file: Path) -> None:
    """Lay a patch over the model as a person would."""
    try:
        project.model_git("apply", "--index", "--whitespace=nowarn", str(file))
    except subprocess.CalledProcessError as fault:
        raise AssertionError(f"git refuses what was applied: {fault.stderr.decode()}") from fault
