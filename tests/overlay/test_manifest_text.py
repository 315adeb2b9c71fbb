# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""PATCHES.md has a row and a section for each patch, from its header."""

from small_project import Project

from overlay.manifest import render_manifest


def test_row_and_section(project: Project) -> None:
    fields = {
        "Subject": "Cut | b",
        "Description": "Why.\n.\nMore <words>.",
        "Retire_Probe": "b.py: absent two",
    }
    project.add_patch("first", {"b.py": "one\n"}, **fields)
    text = render_manifest(project.pin, project.workspace)
    assert (
        "| 1 | [first](#first) | Cut \\| b | local | not sent | never | 1 | 1 | +0 -2 | - |\n"
        in text
    )
    assert "## first\n\n**Cut | b**\n\nWhy.\n\nMore &lt;words>.\n" in text
    assert "- Found retired by:\n  - `b.py: absent two`\n" in text
    assert "  - `b.py +0 -2`\n" in text
