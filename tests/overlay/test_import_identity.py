# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A person can commit in .work/vllm without a git identity; one of their own is taken."""

import os
import subprocess
from pathlib import Path

import pytest
from small_project import Project

MINE = "[user]\nname = A. Person\nemail = person@example.com\n"


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """No identity in the environment."""
    for name in [name for name in os.environ if name.startswith("GIT_") or name == "EMAIL"]:
        monkeypatch.delenv(name)


def author(project: Project) -> str:
    """Apply, commit as a person does, and return whose commit it is."""
    project.apply()
    (project.tree / "a.py").write_text("edited\n")
    subprocess.run(["git", "commit", "-q", "-a", "-m", "edit: Edit"], cwd=project.tree, check=True)
    return project.git("show", "-s", "--format=%an <%ae>").strip()


def test_none(project: Project, nobody: None) -> None:
    # Or git may make one up of the names of user and host.
    (Path.home() / ".gitconfig").write_text("[user]\nuseConfigOnly = true\n")
    assert author(project) == "ternary-vllm overlay <overlay@ternary-vllm.invalid>"


def test_the_users_own(project: Project, nobody: None) -> None:
    (Path.home() / ".gitconfig").write_text(MINE)
    assert author(project) == "A. Person <person@example.com>"


def test_of_the_environment(
    project: Project, nobody: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "A. Person")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "person@example.com")
    assert author(project) == "A. Person <person@example.com>"
