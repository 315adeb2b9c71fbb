# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Where things lie: the repository, its work folder and the user's cache."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Workspace:
    """One checkout of the project; the tests make small ones of their own."""

    root: Path = ROOT

    @property
    def work(self) -> Path:
        """The folder of everything made here (private repository, environments, locks)."""
        return self.root / ".work"

    @property
    def tree(self) -> Path:
        """The private git repository of the pinned source with the series applied."""
        return self.work / "vllm"

    @property
    def patches(self) -> Path:
        """The folder of `series` and the .patch files."""
        return self.root / "patches"

    @property
    def pin(self) -> Path:
        """The file that names the pinned version."""
        return self.root / "pin.yaml"

    @property
    def manifest(self) -> Path:
        """The manifest rendered from the patches' headers."""
        return self.root / "PATCHES.md"


HERE = Workspace()


def cache_dir() -> Path:
    """The user's cache folder of this project, under `XDG_CACHE_HOME` when that is set."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The XDG specification says that a relative path is to be ignored.
    return (base if base.is_absolute() else Path.home() / ".cache") / "ternary-vllm"
