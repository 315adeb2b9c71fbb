# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A plain diff, of git or of diff -u, becomes a commit named after its file."""

import pytest
from small_project import Project, numbered

from overlay import edits
from overlay.export import export


def of_git(project: Project) -> bytes:
    return project.model_git("diff", "--no-renames", "HEAD~1", "HEAD")


def of_diff(project: Project) -> bytes:
    """As `diff -ruN vllm.orig vllm` writes it."""
    text = b"Some words.\n"
    for line in of_git(project).splitlines(keepends=True):
        if line.startswith(b"--- a/"):
            line = line.replace(b"--- a/", b"--- vllm.orig/").rstrip() + b"\t2026-01-01 10:00:00\n"
        elif line.startswith(b"+++ b/"):
            line = line.replace(b"+++ b/", b"+++ vllm/").rstrip() + b"\t2026-01-02 10:00:00\n"
        elif line.startswith(b"diff --git"):
            line = b"diff -ruN vllm.orig vllm\n"
        elif line.startswith((b"index ", b"new file", b"deleted file")):
            continue
        text += line
    return text


@pytest.mark.parametrize("form", [of_git, of_diff])
def test_same_tree(project: Project, form) -> None:
    project.apply_nothing()
    project.commit_model(
        {"a.py": numbered(line_3="3"), "new.py": "-- x\n++ y\n", "b.py": None}, "x"
    )
    file = project.root / "Fix_the-thing.diff"
    file.write_bytes(form(project))
    found = edits.take_in(file, None, project.pin, project.workspace)
    assert found.topic == "fix-the-thing"
    assert found.missing[-3:] == ["Kind", "Retires-When", "Test"]
    assert project.tree_id() == project.model_id()
    assert export(project.pin, project.workspace).new == ("0001-fix-the-thing.patch",)
