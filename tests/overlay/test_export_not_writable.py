# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Export into a folder that cannot be written is refused with one line."""

import os

import pytest
from small_project import Project

from overlay import swap
from overlay.errors import OverlayError
from overlay.export import export


def test_nothing_is_written(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.apply_nothing()
    (project.tree / "b.py").write_text("two\n")
    project.git("commit", "-q", "-a", "-m", "second: b")
    before = project.patch_files()
    # As for a user without the right; root has every right.
    monkeypatch.setattr(swap.os, "access", lambda path, mode: mode != os.W_OK)
    with pytest.raises(OverlayError, match="patches: Permission denied"):
        export(project.pin, project.workspace)
    assert project.patch_files() == before
