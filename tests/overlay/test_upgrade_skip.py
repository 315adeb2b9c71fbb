# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""--skip leaves out the patch that stopped, and what was edited for it."""

import pytest
from small_project import BASE, Project, numbered
from upgrading import new_pin, outcomes, prepare, start

from overlay import upgrade
from overlay.errors import OverlayError
from overlay.status import status


def test_goes_on_without_it(project: Project) -> None:
    project.add_patch("clash", {"a.py": numbered(line_10="ten"), "b.py": "one\n2\nthree\n"})
    project.add_patch("last", {"noeol.txt": "FIRST\nlast"})
    prepare(project, {**BASE, "a.py": numbered(line_10="zehn")})
    start(project)
    (project.tree / "a.py").write_text("half an edit\n")
    result = upgrade.skip(project.pin, project.workspace)
    assert outcomes(result) == {"0001-clash.patch": "skipped", "0002-last.patch": "clean"}
    assert (project.tree / "a.py").read_text() == numbered(line_10="zehn")
    assert (project.tree / "b.py").read_text() == BASE["b.py"]
    assert [*project.patch_files()] == ["0001-last.patch", "series"]
    assert status(new_pin(project), project.workspace).state == "applied"


def test_one_that_says_it_needs_it_is_named(project: Project) -> None:
    project.add_patch("clash", {"a.py": numbered(line_10="ten")})
    project.add_patch("last", {"noeol.txt": "FIRST\nlast"}, Depends="clash")
    prepare(project, {**BASE, "a.py": numbered(line_10="zehn")})
    start(project)
    result = upgrade.skip(project.pin, project.workspace)
    assert result.notes == [
        "something to look at",
        "0001-clash.patch: was skipped",
        "last: Depends names clash, which was left out: does it work without?",
    ]


def test_nothing_is_under_way(project: Project) -> None:
    project.apply()
    for command in (upgrade.skip, upgrade.go_on):
        with pytest.raises(OverlayError, match="no upgrade is under way"):
            command(project.pin, project.workspace)
    with pytest.raises(OverlayError, match="no upgrade is under way"):
        upgrade.abort(project.workspace)
