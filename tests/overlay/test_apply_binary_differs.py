# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A diff that only says that binary files differ is refused."""

from small_project import Project


def test_binary_is_named(project: Project) -> None:
    file = project.add_patch("image", {"image.png": b"\x89PNG\0\1\2"})
    assert b"Binary files" in (project.patches / file).read_bytes()
    assert "a binary patch: the series is text only" in project.refusal(file, "image.png")
