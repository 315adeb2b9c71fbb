# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A new file below an ignored symbolic link that leads outside is refused."""

from small_project import Project


def test_nothing_is_written_outside(project: Project) -> None:
    project.add_patch("new", {"build/out.py": "x\n"})
    outside = project.root / "outside"
    outside.mkdir()
    project.apply_nothing()
    (project.tree / "build.log").symlink_to(outside)  # ignored, as build/ is
    (project.tree / "build").symlink_to(outside)
    message = project.refusal()
    assert "build" in message
    assert not list(outside.iterdir())
