# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A file that someone changed after a kill is not written over by the repair."""

import pytest
from small_project import Project, numbered

from overlay import store
from overlay.errors import OverlayError
from overlay.git import Git


def test_the_file_is_named_and_kept(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    series = project.apply()
    git = Git(project.tree)
    record = store.read_record(git, series.base)
    store._write(
        git.dir / "overlay" / "journal.json",
        {"old": {"head": series.base, "patches": []}, "new": store.asdict(record)},
    )
    (project.tree / "a.py").write_text("mine\n")
    with pytest.raises(OverlayError, match=r"a\.py: was changed after an interrupted run"):
        project.apply()
    assert (project.tree / "a.py").read_text() == "mine\n"
