# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Without a git identity, a home and an environment, the series is applied just the same."""

import os

from small_project import Project, numbered

from overlay.paths import cache_dir


def test_it_works(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    wrap = ("env", "-i", f"PATH={os.environ['PATH']}", f"XDG_CACHE_HOME={cache_dir().parent}")
    assert project.command("apply", wrap=wrap)[0] == 0
    assert project.tree_id() == project.model_id()
