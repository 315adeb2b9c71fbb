# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A hunk that fits in two places of a file it was not made from is refused, naming both."""

from small_project import Project, header

TWINS = "".join(
    f"def {name}():\n    a = 1\n    b = 2\n    c = 3\n    return a\n\n" for name in "fg"
)


def test_both_places_are_named(project: Project) -> None:
    project.apply_nothing()
    diff = (
        "diff --git a/twins.py b/twins.py\n"
        "--- a/twins.py\n+++ b/twins.py\n"
        "@@ -20,4 +20,4 @@\n     a = 1\n     b = 2\n-    c = 3\n+    c = 4\n     return a\n"
    )
    project.add_patch("base", {"twins.py": TWINS})
    file = project.add_file("twin", f"{header()}---\n{diff}".encode())
    assert "lines 2 and 8" in project.refusal(file, "twins.py")
