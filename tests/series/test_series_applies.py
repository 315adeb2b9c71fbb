# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The series applies to the pinned source where its patches say, without an offset."""

from overlay import commits, tree
from overlay.git import Git
from overlay.patchfile import read_all
from overlay.paths import HERE


def test_every_patch_applies_in_place(series: tree.AppliedSeries) -> None:
    patches = read_all(HERE.patches)

    built = commits.build(Git(HERE.tree), series.base, patches)

    assert [b.patch.file for b in built] == [p.file for p in patches]
    assert [offset for b in built for offset in b.applied.offsets] == []
