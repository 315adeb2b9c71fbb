# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A patch that changes nothing is refused: an empty file, prose alone, hunks without a change."""

import pytest
from small_project import Project, header

NO_CHANGE = (
    "diff --git a/b.py b/b.py\n--- a/b.py\n+++ b/b.py\n@@ -1,3 +1,3 @@\n one\n two\n three\n"
)
SAME_LINE = NO_CHANGE.replace(" two\n", "-two\n+two\n")
NO_HUNK = "diff --git a/b.py b/b.py\n--- a/b.py\n+++ b/b.py\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the patch is empty"),
        ("\n\n", "the patch is empty"),
        (header(), "no line '---'"),
        (f"{header()}---\n", "there is no diff"),
        (f"{header()}---\nSome words.\n", "expected 'diff --git'"),
        (f"{header()}---\n{NO_CHANGE}", "changes nothing"),
        (f"{header()}---\n{SAME_LINE}", "changes nothing"),
        (f"{header()}---\n{NO_HUNK}", "there is no hunk"),
    ],
    ids=["empty", "blank", "header", "no-diff", "prose", "no-change", "same-line", "no-hunk"],
)
def test_it_is_refused(project: Project, text: str, words: str) -> None:
    file = project.add_file("nothing", text.encode())
    assert words in project.refusal(file)
