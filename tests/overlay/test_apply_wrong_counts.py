# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A hunk whose header counts other lines than it has is refused."""

import pytest
from small_project import Project, numbered


@pytest.mark.parametrize(
    "counts",
    ["-1,6 +1,7", "-1,7 +1,6", "-1,5 +1,5", "-1,7 +1,7", "-1,60 +1,60", "-1,0 +1,0"],
)
def test_it_is_refused(project: Project, counts: str) -> None:
    file = project.add_patch("three", {"a.py": numbered(line_3="3"), "b.py": "one\n2\nthree\n"})
    project.edit(file, "-1,6 +1,6", counts)
    project.refusal(file, "a.py")
