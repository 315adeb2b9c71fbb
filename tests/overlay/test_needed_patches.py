# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Which earlier patches one needs is found by trying to apply it without them."""

from small_project import Project, numbered

from overlay.commits import load
from overlay.git import Git
from overlay.leave_out import needed_by
from overlay.patchfile import read_all
from overlay.source import PRISTINE


def test_only_those(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    project.add_patch("other", {"b.py": "one\n"})
    project.add_patch("second", {"a.py": numbered(line_3="3", line_5="5")})
    project.add_patch("far", {"a.py": numbered(line_3="3", line_5="5", line_25="25")})
    project.add_patch("third", {"a.py": numbered(line_3="3", line_5="5", line_7="7", line_25="25")})
    project.apply_nothing()
    patches = read_all(project.patches)
    files = load(Git(project.tree), PRISTINE, patches)
    assert needed_by(patches, "third", files) == ["first", "second"]
    assert needed_by(patches, "far", files) == []
    assert needed_by(patches, "first", files) == []
