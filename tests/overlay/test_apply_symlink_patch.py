# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A patch that makes a symbolic link, or a submodule, is refused."""

import pytest
from small_project import Project, header


@pytest.mark.parametrize("mode", ["120000", "160000"])
def test_it_is_refused(project: Project, mode: str) -> None:
    diff = (
        f"diff --git a/link b/link\nnew file mode {mode}\n"
        "--- /dev/null\n+++ b/link\n@@ -0,0 +1 @@\n+/etc\n\\ No newline at end of file\n"
    )
    file = project.add_file("link", f"{header()}---\n{diff}".encode())
    assert f"mode {mode}: only plain files can be patched" in project.refusal(file, "link")
