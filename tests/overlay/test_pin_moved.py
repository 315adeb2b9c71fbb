# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A tree of another version than the pin's is refused, naming both; --anew replaces it."""

from dataclasses import replace

import pytest
from small_project import BASE, Project, _pin, numbered

from overlay.errors import OverlayError
from overlay.export import export
from overlay.tree import apply, apply_series, unapply


def test_refused_then_replaced(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    project.apply()
    before = project.state()
    other = _pin({**BASE, "b.py": "other\n"})
    with pytest.raises(
        OverlayError, match=f"{project.pin.sdist.sha256[:12]}.*{other.sdist.sha256[:12]}"
    ):
        apply(other, project.workspace)
    with pytest.raises(OverlayError, match=r"is vLLM 0\.32\.0, pin\.yaml says 0\.33\.0"):
        apply(replace(project.pin, version="0.33.0"), project.workspace)
    assert project.state() == before
    apply_series(other, project.workspace, anew=True)
    assert (project.tree / "b.py").read_text() == "other\n"


@pytest.mark.parametrize("command", [export, unapply])
def test_other_commands_refuse_it(project: Project, command) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    project.apply()
    before = project.state()
    with pytest.raises(OverlayError, match=r"is vLLM 0\.32\.0, .* `.*apply --anew` replaces it"):
        command(replace(project.pin, version="0.33.0"), project.workspace)
    assert project.state() == before


def test_not_replaced_by_one_that_the_series_does_not_fit(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    project.apply()
    before = project.state()
    other = _pin({**BASE, "a.py": "other\n"})
    with pytest.raises(OverlayError, match=r"0001-first\.patch"):
        apply_series(other, project.workspace, anew=True)
    assert project.state() == before
