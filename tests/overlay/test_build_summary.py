# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The summary: how many patches, and whether the wheel or the try-out is new."""

from pathlib import Path

import pytest
from small_build import SmallBuild

from overlay import build


@pytest.mark.parametrize("made", [False, True])
def test_tryout_counts(
    made: bool,
    small: SmallBuild,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    small.build()
    monkeypatch.setattr(build.tryout, "make", lambda folder, wheel, pin: made)
    small.run(monkeypatch, "--cpu-tryout", str(tmp_path / "try"))
    seconds = capsys.readouterr().out.splitlines()[-1]
    assert seconds.startswith("seconds ")
    assert seconds.endswith(" (nothing had changed)") != made


def test_patches_are_counted(
    small: SmallBuild, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small.add_patch("one", {"vllm/old.py": "OLD = 2\n"})
    small.add_patch("two", {"vllm/old.py": "OLD = 3\n"})
    small.run(monkeypatch)
    assert "\npatches        2, all of patches/series\n" in capsys.readouterr().out
