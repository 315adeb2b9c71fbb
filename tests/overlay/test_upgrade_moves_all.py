# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""An upgrade without conflicts moves tree, pin and patches/ together; what is upstream goes."""

import pytest
from small_project import BASE, Project, numbered
from upgrading import go_on, new_pin, outcomes, prepare, start

from overlay import upgrade
from overlay.errors import OverlayError, UsageError
from overlay.export import export
from overlay.status import status
from overlay.tree import apply_series

NEXT = {
    **BASE,
    "a.py": "new 1\nnew 2\n" + numbered(line_28="other"),
    "b.py": "one\n2\nthree\n",
    "dos.bat": None,
}


def series(project: Project) -> None:
    project.add_patch("moves", {"a.py": numbered(line_10="ten"), "new/x.py": "x\n"})
    project.add_patch("upstream", {"b.py": "one\n2\nthree\n"})
    project.add_patch("clean", {"pkg/mod.py": "def f():\n    return 2\n"})
    project.add_patch("meets", {"a.py": numbered(line_10="ten", line_26="26")})
    prepare(project, {name: text for name, text in NEXT.items() if text is not None})


def test_tree_pin_and_patches(project: Project) -> None:
    series(project)
    result = start(project)
    assert (result.stopped, result.notes) == ("", ["something to look at"])
    found = outcomes(result)
    assert found.pop("0002-upstream.patch").startswith("dropped: already upstream (")
    assert found == {
        "0001-moves.patch": "offset",
        "0003-clean.patch": "clean",
        "0004-meets.patch": "merged 3-way",
    }
    text = "new 1\nnew 2\n" + numbered(line_10="ten", line_26="26", line_28="other")
    assert (project.tree / "a.py").read_text() == text
    assert (project.tree / "b.py").read_text() == "one\n2\nthree\n"
    assert not (project.tree / "dos.bat").exists()
    assert [*project.patch_files()] == [
        "0001-moves.patch",
        "0002-clean.patch",
        "0003-meets.patch",
        "series",
    ]
    pin = new_pin(project)
    assert (pin.version, pin.tag, pin.sdist) == ("0.33.0", "v0.33.0", project.pin.versions[0])
    assert pin.versions == (project.pin.sdist, *project.pin.versions)
    assert "release: 1  # of 0.33.0+ternary.N\n" in project.workspace.pin.read_text()


def test_nothing_is_left_to_do(project: Project) -> None:
    series(project)
    start(project)
    pin, before = new_pin(project), project.state()
    assert status(pin, project.workspace).state == "applied"
    assert not export(pin, project.workspace, check=True).stale
    assert not apply_series(pin, project.workspace).moved
    # The same from the source alone.
    apply_series(pin, project.workspace, anew=True)
    assert project.state() == before
    refs = project.git("for-each-ref", "--format=%(refname)").split()
    assert not [name for name in refs if "upgrade" in name]


def test_the_same_result_until_told(project: Project) -> None:
    series(project)
    result = start(project)
    assert start(project) == result
    assert go_on(project) == result
    with pytest.raises(OverlayError, match=r"to 0\.33\.0 is done: .* upgrade --continue says"):
        upgrade.abort(project.workspace)
    upgrade.told(project.workspace)
    with pytest.raises(OverlayError, match="no upgrade is under way"):
        go_on(project)
    with pytest.raises(UsageError, match=r"says 0\.33\.0 already"):
        upgrade.start("0.33.0", new_pin(project), project.workspace)
