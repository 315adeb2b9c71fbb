# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Applying gives, commit by commit, the trees that git gives for the same changes."""

from small_project import Project, numbered


def test_each_commit_is_the_models(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="three"), "new/file.py": "x\n"})
    project.add_patch("second", {"a.py": numbered(line_3="three", line_20="twenty")})
    project.add_patch("third", {"b.py": None, "pkg/mod.py": "def f():\n    return 2\n"})
    series = project.apply()
    assert [patch.name for patch in series.patches] == ["first", "second", "third"]
    for back, patch in enumerate(reversed(series.patches)):
        assert project.tree_id(patch.commit) == project.model_id(f"HEAD~{back}")
    assert project.git("status", "--porcelain", "--ignored") == ""
    assert series.patches[0].changed == ["a.py", "new/file.py"]
