# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A hunk without the two lines that name its file, or with one of them twice, is refused."""

import pytest
from small_project import Project

OLD, NEW = "--- a/b.py\n", "+++ b/b.py\n"


@pytest.mark.parametrize("names", ["", OLD, NEW, NEW + OLD, OLD + OLD + NEW, OLD + NEW + NEW])
def test_it_is_refused(project: Project, names: str) -> None:
    file = project.add_patch("two", {"b.py": "one\n2\nthree\n"})
    project.edit(file, OLD + NEW, names)
    project.refusal(file)
