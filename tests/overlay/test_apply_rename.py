# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A rename is refused, whether or not its target exists."""

import pytest
from small_project import Project, header


@pytest.mark.parametrize("target", ["a.py", "new.py"])
def test_it_is_refused(project: Project, target: str) -> None:
    diff = (
        f"diff --git a/b.py b/{target}\nsimilarity index 100%\n"
        f"rename from b.py\nrename to {target}\n"
    )
    file = project.add_file("rename", f"{header()}---\n{diff}".encode())
    assert "a rename or copy: make the diff with --no-renames" in project.refusal(file, target)
