# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A symbolic link in the source: nothing is patched through it, and it is no file to patch."""

from dataclasses import replace

import pytest
from small_project import Project, header

from overlay.tree import apply_series

NEW = "new file mode 100644\n--- /dev/null\n+++ b/link/evil\n@@ -0,0 +1 @@\n+x\n"
CHANGED = "--- a/link\n+++ b/link\n@@ -1 +1 @@\n-/tmp\n+/etc\n"


@pytest.mark.parametrize(
    ("path", "rest", "words"),
    [
        ("link/evil", NEW, "link is a file, not a folder"),
        ("link", CHANGED, "is not a plain file in the tree (mode 120000)"),
    ],
)
def test_it_is_refused(project: Project, path: str, rest: str, words: str) -> None:
    outside = project.root / "outside"
    outside.mkdir()
    (project.model / "link").symlink_to(outside)
    project.commit_model({}, "a link that leads outside")
    project.model_git("tag", "v0.32.0")
    commit = project.model_git("rev-parse", "HEAD").decode().strip()
    project.pin = replace(project.pin, commit=commit)
    apply_series(project.pin, project.workspace, str(project.model))
    diff = f"diff --git a/{path} b/{path}\n{rest}"
    file = project.add_file("evil", f"{header()}---\n{diff}".encode())
    assert words in project.refusal(file, path)
    assert not list(outside.iterdir())
