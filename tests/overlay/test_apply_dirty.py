# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A changed file, staged or not, makes apply and unapply refuse."""

import pytest
from small_project import Project, numbered

from overlay.errors import OverlayError
from overlay.tree import unapply


@pytest.mark.parametrize("staged", [False, True])
def test_both_refuse(project: Project, staged: bool) -> None:
    project.add_patch("nine", {"a.py": numbered(line_9="9")})
    project.apply_nothing()
    (project.tree / "b.py").write_text("mine\n")
    if staged:
        project.git("add", "b.py")
    message = project.refusal()
    assert "changes that are in no commit (b.py)" in message
    assert message.endswith(", then again")  # build.sh applies as well
    with pytest.raises(OverlayError, match=r"\(b\.py\)"):
        unapply(project.pin, project.workspace)
