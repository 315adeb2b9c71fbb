# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A git binary patch is refused."""

from small_project import Project


def test_binary_is_named(project: Project) -> None:
    project.commit_model({"image.png": b"\x89PNG\0\1\2"}, "image")
    diff = project.model_git("diff", "--binary", "HEAD~1", "HEAD")
    assert b"GIT binary patch" in diff
    file = project.add_file("image", project.patch_bytes().split(b"diff --git")[0] + diff)
    assert "a binary patch: the series is text only" in project.refusal(file, "image.png")
