# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A new file that exists is refused, and so is one where a folder or a file stands in its path."""

import pytest
from small_project import Project, header


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("b.py", "the new file exists already"),
        ("pkg", "is a folder in the tree"),
        ("b.py/new.py", "b.py is a file, not a folder"),
    ],
)
def test_it_is_refused(project: Project, path: str, words: str) -> None:
    diff = (
        f"diff --git a/{path} b/{path}\nnew file mode 100644\n"
        f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n"
    )
    file = project.add_file("new", f"{header()}---\n{diff}".encode())
    assert words in project.refusal(file, path)
