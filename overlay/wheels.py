# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Wheels of parts of the series, kept by what they are made from."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from overlay import build, compiler, export, tree
from overlay.commits import Built
from overlay.paths import Workspace
from overlay.pin import Pin


@dataclass(frozen=True)
class _Apart(Workspace):
    """A workspace that builds beside the real one, from its private tree."""

    private: Path = Path()

    @property
    def tree(self) -> Path:
        return self.private


@dataclass(frozen=True)
class Wheels:
    """Builds wheels below .work/bisect for some GPU architectures."""

    workspace: Workspace
    archs: Sequence[str]
    jobs: int

    def build(self, pin: Pin, base: str, built: Sequence[Built]) -> Path:
        """The wheel of these patches on `base`; made once. Raises OverlayError as a build does."""
        head = built[-1].commit if built else base
        rendered = [export.Rendered(b.commit, b.patch.file, b.patch.data) for b in built]
        record = export.record_of(head, rendered)
        series = tree.series_of(base, record, [b.patch for b in built])
        folder = self.workspace.work / "bisect"
        key = build.key_of(pin, series, self.archs, compiler.prepare(pin))
        place = folder / "wheels" / key
        for found in place.glob("*.whl"):
            return found
        apart = _Apart(folder, self.workspace.tree)
        wheel, _ = build.build_wheel(pin, series, apart, self.archs, self.jobs)
        place.mkdir(parents=True, exist_ok=True)
        return Path(shutil.move(wheel, place / wheel.name))
