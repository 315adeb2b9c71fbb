# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Git's environment variables, as a hook of an outer repository sets them, lead nowhere."""

import pytest
from small_project import Project, numbered


def test_outer_repository_is_untouched(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.add_patch("nine", {"a.py": numbered(line_9="9")})
    before = project.model_git("for-each-ref")
    monkeypatch.setenv("GIT_DIR", str(project.model / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(project.model))
    monkeypatch.setenv("GIT_INDEX_FILE", str(project.root / "index"))
    project.apply()
    assert project.tree_id() == project.model_id()
    assert project.model_git("for-each-ref") == before
    assert not (project.root / "index").exists()
