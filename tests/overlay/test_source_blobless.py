# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A checkout without blobs works while what it was cloned from is there; else it is said."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from small_project import Project

from overlay.errors import OverlayError
from overlay.tree import apply_series


@pytest.fixture
def blobless(project: Project) -> Path:
    """A clone of the model that has fetched no file's content."""
    project.model_git("tag", "v0.32.0")
    project.model_git("config", "uploadpack.allowFilter", "true")
    commit = project.model_git("rev-parse", "HEAD").decode().strip()
    project.pin = replace(project.pin, commit=commit)
    clone = project.root / "clone"
    options = ("--filter=blob:none", "--no-checkout")
    project.model_git("clone", "-q", *options, f"file://{project.model}", str(clone))
    return clone


def test_works_where_the_rest_can_be_had(project: Project, blobless: Path) -> None:
    apply_series(project.pin, project.workspace, str(blobless))
    assert project.tree_id() == project.model_id()


def test_says_what_is_missing(project: Project, blobless: Path) -> None:
    shutil.rmtree(project.model)
    with pytest.raises(OverlayError) as caught:
        apply_series(project.pin, project.workspace, str(blobless))
    assert "lacks objects of refs/tags/v0.32.0 (a partial clone?)" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not project.tree.exists()
