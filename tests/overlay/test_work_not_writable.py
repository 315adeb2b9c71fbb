# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A .work that cannot be made is refused with one line."""

import pytest
from small_project import Project

from overlay.errors import OverlayError


def test_it_is_named(project: Project) -> None:
    project.workspace.work.write_text("a file stands here\n")
    with pytest.raises(OverlayError, match=r"\.work: "):
        project.apply()
