# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""An amended commit is written to its patch, header kept; the others stay byte for byte."""

from small_project import Project, header, numbered

from overlay.export import export


def test_only_its_patch_changes(project: Project) -> None:
    first = project.add_patch("first", {"a.py": numbered(line_3="3")})
    second = project.add_patch("second", {"b.py": "one\n"})
    project.apply()
    (project.tree / "b.py").write_text("two\n")
    project.git("commit", "-q", "-a", "--amend", "--no-edit")
    result = export(project.pin, project.workspace)
    assert (result.same, result.changed, result.new) == ((first,), (second,), ())
    data = (project.patches / second).read_text()
    assert data.startswith(header() + "---\n 1 file changed, 2 deletions(-)\n\ndiff --git")
