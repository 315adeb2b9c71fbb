# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Export refuses while patches/ holds something that is not in the commits."""

import pytest
from small_project import Project, numbered

from overlay.errors import OverlayError
from overlay.export import export
from overlay.tree import unapply


def test_pristine_tree_does_not_empty_the_series(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    project.apply()
    unapply(project.pin, project.workspace)
    before = project.patch_files()
    with pytest.raises(OverlayError, match=r"0001-first\.patch is not in \.work/vllm"):
        export(project.pin, project.workspace)
    assert project.patch_files() == before


def test_a_patch_that_came_since_stays(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    project.apply()
    project.add_patch("second", {"b.py": "one\n"})
    before = project.patch_files()
    with pytest.raises(OverlayError, match=r"0002-second\.patch is not in \.work/vllm"):
        export(project.pin, project.workspace)
    assert project.patch_files() == before
