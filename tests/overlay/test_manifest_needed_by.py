# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""PATCHES.md names, for each patch, those it needs, those that need it, and its size."""

from __future__ import annotations

from small_project import Project, numbered

from overlay.manifest import render_manifest


def test_both_directions_and_size(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="new")})
    project.add_patch("second", {"a.py": numbered(line_3="newer"), "b.py": "one\n"})
    first, second = render_manifest(project.pin, project.workspace).split("## ")[1:]
    assert "- Needed by: [second](#second)\n" in first
    assert "- Size: 1 file changed, 1 insertion(+), 1 deletion(-)\n" in first
    assert "- Needs: [first](#first)\n" in second
    assert "- Size: 2 files changed, 1 insertion(+), 3 deletions(-)\n" in second
