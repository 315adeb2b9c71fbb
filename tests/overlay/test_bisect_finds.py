# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""bisect finds the patch that makes a command fail, and the earlier ones that it needs."""

import sys

import pytest
from small_project import Project, numbered

from overlay.bisect import Culprit, bisect
from overlay.errors import OverlayError, UsageError


def five(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    project.add_patch("second", {"b.py": "one\n"})
    project.add_patch("third", {"a.py": numbered(line_3="3", line_5="5")})
    project.add_patch("fourth", {"pkg/mod.py": "x\n"})
    project.add_patch("fifth", {"noeol.txt": "FIRST\nlast"})
    project.apply()


def run(project: Project, script: str) -> Culprit:
    """Bisect with a Python script, whose working folder is the tree."""
    command = [sys.executable, "-c", f"import os, sys, pathlib\n{script}"]
    return bisect(command, project.pin, project.workspace, say=lambda text: None)


def test_the_first_that_fails_and_its_needs(project: Project) -> None:
    five(project)
    before = project.state()
    found = run(project, "sys.exit('\\n5\\n' in pathlib.Path('a.py').read_text())")
    assert (found.name, found.needs, found.along, found.maybe) == ("third", ["first"], [], [])
    assert found.runs <= 6
    assert project.state() == before
    assert not (project.workspace.work / "bisect" / "vllm").exists()


def test_says_what_each_try_gave(project: Project) -> None:
    project.add_patch("first", {"b.py": "one\n"})
    project.apply()
    said: list[str] = []
    command = [sys.executable, "-c", "raise SystemExit(open('b.py').read() == 'one\\n')"]
    bisect(command, project.pin, project.workspace, say=said.append)
    assert said == ["0 patches: passes", "1 patch, first last: fails"]


def test_tree_is_named(project: Project) -> None:
    five(project)
    script = (
        "tree = pathlib.Path(os.environ['OVERLAY_TREE'])\n"
        "assert tree == pathlib.Path.cwd() and 'OVERLAY_WHEEL' not in os.environ\n"
        "sys.exit((tree / 'b.py').read_text() == 'one\\n')"
    )
    assert run(project, script).name == "second"


def test_only_along_with_another(project: Project) -> None:
    five(project)
    script = (
        "second = pathlib.Path('b.py').read_text() == 'one\\n'\n"
        "sys.exit(second and pathlib.Path('noeol.txt').read_text().startswith('FIRST'))"
    )
    found = run(project, script)
    assert (found.name, found.needs, found.along) == ("fifth", [], ["second"])


def test_what_a_try_left_is_gone(project: Project) -> None:
    five(project)
    script = (
        "left = pathlib.Path('x.log').exists() or pathlib.Path('y').exists()\n"
        "pathlib.Path('x.log').touch()\npathlib.Path('y').touch()\n"
        "sys.exit(left or pathlib.Path('pkg/mod.py').read_text() == 'x\\n')"
    )
    assert run(project, script).name == "fourth"


def test_cannot_be_tried(project: Project) -> None:
    five(project)
    script = (
        "third, fourth = '\\n5\\n' in pathlib.Path('a.py').read_text(), "
        "pathlib.Path('pkg/mod.py').read_text() == 'x\\n'\n"
        "sys.exit(125 if third and not fourth else fourth)"
    )
    found = run(project, script)
    assert (found.name, found.maybe) == ("fourth", ["third"])


@pytest.mark.parametrize(
    ("script", "words"),
    [("sys.exit(1)", "without any patch"), ("sys.exit(0)", "does not fail with all patches")],
)
def test_no_patch_makes_the_difference(project: Project, script: str, words: str) -> None:
    five(project)
    with pytest.raises(OverlayError, match=words):
        run(project, script)


def test_no_such_command(project: Project) -> None:
    five(project)
    with pytest.raises(UsageError, match="no-such-command: No such file"):
        bisect(["no-such-command"], project.pin, project.workspace)


def test_unexported_work(project: Project) -> None:
    five(project)
    (project.tree / "b.py").write_text("mine\n")
    with pytest.raises(OverlayError, match=r"in no commit \(b\.py\)"):
        run(project, "sys.exit(0)")
