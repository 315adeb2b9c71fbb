# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A path that leads out of the tree, or into git's own folder, is refused."""

import pytest
from small_project import Project, header

PATHS = ["../evil", "/etc/evil", "a/../../evil", "./evil", "a//b", ".git/hooks/evil", "x/.GIT/evil"]


@pytest.mark.parametrize("path", PATHS)
def test_it_is_refused(project: Project, path: str) -> None:
    diff = (
        f"diff --git a/{path} b/{path}\nnew file mode 100644\n"
        f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n"
    )
    file = project.add_file("evil", f"{header()}---\n{diff}".encode())
    assert "leads out of the tree" in project.refusal(file)
