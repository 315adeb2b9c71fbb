# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A mail of git format-patch becomes a commit with its author, day, title and prose."""

import pytest
from small_project import Project, numbered

from overlay import edits
from overlay.errors import OverlayError
from overlay.export import export


def mail(project: Project, message: str) -> bytes:
    project.commit_model({"a.py": numbered(line_3="3"), "new.py": "- \nx\n"}, message)
    return project.model_git("format-patch", "--stdout", "-1")


def test_header_and_change(project: Project) -> None:
    project.apply_nothing()
    file = project.root / "0001-x.patch"
    file.write_bytes(
        mail(project, "[Bugfix] Größe: change a long title " + "word " * 12 + "\n\nWhy.\n\nMore.")
    )
    found = edits.take_in(file, None, project.pin, project.workspace)
    assert found.topic == "gr-e-change-a-long-title-word-word-word-word-word-word-word"
    assert found.missing == ["Kind", "Retires-When", "Test"]
    assert project.tree_id() == project.model_id()
    (name,) = export(project.pin, project.workspace).new
    text = (project.patches / name).read_text()
    assert text.startswith("Subject: [Bugfix] Größe: change a long title word")
    assert "\nDescription: Why.\n .\n More.\nOrigin: other\n" in text
    assert "\nAuthor: M <m@example.com>\n" in text
    assert "format-patch" not in text


def test_two_in_one_file(project: Project) -> None:
    project.apply_nothing()
    first = mail(project, "one")
    project.commit_model({"b.py": "x\n"}, "two")
    file = project.root / "both.mbox"
    file.write_bytes(first + project.model_git("format-patch", "--stdout", "-1"))
    before = project.state()
    with pytest.raises(OverlayError, match="holds more than one patch"):
        edits.take_in(file, None, project.pin, project.workspace)
    assert project.state() == before
