# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A commit that is dropped takes its patch along, and those after it are numbered anew."""

from small_project import Project, numbered

from overlay.export import export


def test_renumbered(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    project.add_patch("second", {"b.py": "one\n"})
    series = project.apply()
    project.git("reset", "-q", "--hard", series.base)
    project.git("cherry-pick", series.patches[1].commit)
    result = export(project.pin, project.workspace)
    assert result.new == ("0001-second.patch",)
    assert result.removed == ("0001-first.patch", "0002-second.patch")
    assert sorted(project.patch_files()) == ["0001-second.patch", "series"]
