# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A patch with DEP-3 fields keeps them; those that are not the tool's get X- before them."""

from small_project import Project, numbered

from overlay import edits
from overlay.export import export

HEAD = """\
From: Deb Maintainer <deb@example.com>
Description: Cut something
 that is long.
Bug-Debian: https://bugs.example.com/1
Forwarded: https://example.com/pull/2
Last-Update: 2025-05-06

More prose.
---
"""


def test_fields(project: Project) -> None:
    project.apply_nothing()
    project.commit_model({"a.py": numbered(line_3="3")}, "x")
    file = project.root / "x.patch"
    file.write_bytes(HEAD.encode() + project.model_git("diff", "HEAD~1", "HEAD"))
    found = edits.take_in(file, "cut", project.pin, project.workspace)
    assert found.missing == ["Kind", "Retires-When", "Test"]
    export(project.pin, project.workspace)
    text = (project.patches / "0001-cut.patch").read_text()
    assert text.startswith(
        "Subject: Cut something\nDescription: that is long.\n .\n More prose.\nOrigin: other\n"
        "Forwarded: https://example.com/pull/2\nAuthor: Deb Maintainer <deb@example.com>\n"
        "Last-Update: 2025-05-06\n"
    )
    assert "X-Bug-Debian: https://bugs.example.com/1\n" in text
