# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Lock files of a git that was killed do not stop the next run; a person's own lock does."""

import pytest
from small_project import Project, numbered

from overlay.errors import OverlayError


@pytest.mark.parametrize(
    "name", ["refs/overlay/next.lock", "refs/overlay/applied.lock", "overlay/marks.lock"]
)
def test_ours_is_cleared_away(project: Project, name: str) -> None:
    project.apply_nothing()
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    (project.tree / ".git" / name).touch()
    project.apply()
    assert project.tree_id() == project.model_id()
    assert not (project.tree / ".git" / name).exists()


def test_a_persons_is_kept(project: Project) -> None:
    project.apply_nothing()
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    lock = project.tree / ".git" / "index.lock"
    lock.touch()
    before = project.state()
    with pytest.raises(OverlayError, match=r"index\.lock"):
        project.apply()
    assert lock.exists()
    lock.unlink()
    before["<locks>"] = []
    assert project.state() == before
    project.apply()
    assert project.tree_id() == project.model_id()
