# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A commit that a person made becomes a patch: name and header from its message."""

from small_project import Project, numbered

from overlay.export import export


def test_name_and_header(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    project.apply()
    (project.tree / "b.py").write_text("one\n")
    project.git("commit", "-q", "-a", "-m", "[Bugfix][Core] Cut b short\n\nWhy so.\n\nAnd more.")
    assert export(project.pin, project.workspace).new == ("0002-cut-b-short.patch",)
    text = (project.patches / "0002-cut-b-short.patch").read_text()
    assert text.startswith(
        "Subject: [Bugfix][Core] Cut b short\n"
        "Description: Why so.\n .\n And more.\n"
        "Author: Someone Else <else@example.com>\n"
        "Last-Update: "
    )
    assert (project.patches / "series").read_text() == (
        "# The order.\n0001-first.patch\n0002-cut-b-short.patch\n"
    )
    before = project.state()
    project.apply()
    assert project.state() == before
