# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The project's own series, on the pinned source."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from overlay import commits, tree
from overlay.git import Git
from overlay.leave_out import leave_out
from overlay.patchfile import read_all
from overlay.paths import HERE
from overlay.pin import load_pin


@pytest.fixture(scope="session")
def series() -> tree.AppliedSeries:
    """The series, applied to the pinned source in .work/vllm."""
    return tree.apply(load_pin())


def link_or_copy(source: str, target: str) -> None:
    """A hard link, for 1 GB of kernels; a copy where the two lie on different file systems."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


@pytest.fixture(scope="session")
def package_without(
    series: tree.AppliedSeries, tryout_python: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """A folder for PYTHONPATH with the try-out's vllm as it is when one patch is left out.

    Patches that do not apply without it are left out as well.
    """

    def make(topic: str) -> Path:
        folder = tmp_path_factory.mktemp(topic)
        git = Git(HERE.tree)
        patches = read_all(HERE.patches)
        rest = leave_out(patches, [topic], commits.load(git, series.base, patches))
        head = commits.build(git, series.base, rest.kept)[-1].commit
        installed = next(tryout_python.parent.parent.glob("lib/python3*/site-packages/vllm"))
        shutil.copytree(installed, folder / "vllm", copy_function=link_or_copy)
        for change in tree.changed_files(series.head, head):
            if not change.path.startswith("vllm/"):
                continue
            target = folder / change.path
            target.unlink(missing_ok=True)
            if change.status != "D":
                target.write_bytes(git.run("cat-file", "blob", f"{head}:{change.path}"))
        return folder

    return make
