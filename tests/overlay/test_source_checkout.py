# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""--source takes the pinned tag's commit of a checkout, and leaves the checkout as it is."""

from dataclasses import replace

import pytest
from small_project import Project, numbered

from overlay.errors import OverlayError
from overlay.tree import apply_series


def test_tag_is_imported(project: Project) -> None:
    project.model_git("tag", "v0.32.0")
    commit = project.model_git("rev-parse", "HEAD").decode().strip()
    pin = replace(project.pin, commit=commit[:9])
    project.add_patch("first", {"a.py": numbered(line_3="3")})  # HEAD is beyond the tag
    (project.model / "b.py").write_text("not committed\n")
    before = project.model_git("for-each-ref") + project.model_git("status", "--porcelain")
    apply_series(pin, project.workspace, str(project.model))
    assert project.tree_id() == project.model_id()
    assert project.model_git("for-each-ref") + project.model_git("status", "--porcelain") == before
    assert project.git("remote") == ""


def test_tag_elsewhere_is_refused(project: Project) -> None:
    project.model_git("tag", "v0.32.0")
    commit = project.model_git("rev-parse", "HEAD").decode().strip()
    with pytest.raises(OverlayError, match=rf"v0\.32\.0 is commit {commit[:12]}.*says 000000000"):
        apply_series(project.pin, project.workspace, str(project.model))
    assert not project.tree.exists()


def test_shallow_checkout(project: Project) -> None:
    project.commit_model({"c.py": "x\n"}, "second")
    project.model_git("tag", "v0.32.0")
    commit = project.model_git("rev-parse", "HEAD").decode().strip()
    shallow = project.root / "shallow"
    project.model_git("clone", "-q", "--depth=1", f"file://{project.model}", str(shallow))
    apply_series(replace(project.pin, commit=commit[:9]), project.workspace, str(shallow))
    assert project.tree_id() == project.model_id()


def test_no_folder(project: Project) -> None:
    with pytest.raises(OverlayError, match=r"/nowhere: there is no such folder$"):
        apply_series(project.pin, project.workspace, str(project.root / "nowhere"))


def test_no_checkout(project: Project) -> None:
    with pytest.raises(OverlayError, match=r"/home is not a git checkout$"):
        apply_series(project.pin, project.workspace, str(project.root / "home"))
