# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Commits that are not exported make apply and unapply refuse, and say export."""

import pytest
from small_project import Project, numbered

from overlay.errors import OverlayError
from overlay.tree import require_clean_applied, unapply


def test_all_three_refuse(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    project.apply()
    (project.tree / "b.py").write_text("two\n")
    project.git("commit", "-q", "-a", "-m", "second: b")
    assert "apply_patches.py export" in project.refusal()
    for command in (unapply, require_clean_applied):
        with pytest.raises(OverlayError, match=r"apply_patches\.py export"):
            command(project.pin, project.workspace)
