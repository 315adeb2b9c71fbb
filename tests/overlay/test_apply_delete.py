# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Deleting a file that is not there, or whose lines are others, is refused."""

import pytest
from small_project import Project


@pytest.mark.parametrize(
    ("content", "words"), [(None, "no such file in the tree"), ("one\ntwo\n3\n", "hunk 1")]
)
def test_it_is_refused(project: Project, content: str | None, words: str) -> None:
    project.commit_model({"b.py": None}, "the deletion of the file as it is")
    patch = project.patch_bytes()
    project.model_git("reset", "-q", "--hard", "HEAD~1")
    project.add_patch("before", {"b.py": content})
    file = project.add_file("delete", patch)
    assert words in project.refusal(file, "b.py")
