# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Export refuses work that is in no commit, and a rebase that is under way."""

import pytest
from small_project import Project

from overlay.errors import OverlayError
from overlay.export import export


def test_dirty(project: Project) -> None:
    project.apply_nothing()
    (project.tree / "new.py").write_text("x\n")
    with pytest.raises(OverlayError, match=r"in no commit \(new\.py\)"):
        export(project.pin, project.workspace)


def test_detached(project: Project) -> None:
    project.apply_nothing()
    project.git("checkout", "-q", "--detach")
    with pytest.raises(OverlayError, match="HEAD on no branch, not on main"):
        export(project.pin, project.workspace)
