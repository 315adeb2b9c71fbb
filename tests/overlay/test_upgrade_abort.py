# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""--abort at any point is the old state exactly."""

from small_project import BASE, Project, numbered
from upgrading import everything, go_on, prepare, resolve, start

from overlay import upgrade


def two_clashes(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_10="ten"), "dir/new.py": "n\n"})
    project.add_patch("second", {"b.py": "one\n2\nthree\n", "dos.bat": None})
    files = {**BASE, "a.py": numbered(line_10="zehn"), "b.py": "one\nzwei\nthree\n", "c.py": "c\n"}
    del files["pkg/mod.py"]
    prepare(project, files)


def test_at_a_conflict(project: Project) -> None:
    two_clashes(project)
    before = everything(project)
    start(project)
    assert (project.tree / "c.py").exists()
    assert upgrade.abort(project.workspace) == "0.33.0"
    assert everything(project) == before


def test_with_half_a_resolution(project: Project) -> None:
    two_clashes(project)
    before = everything(project)
    start(project)
    resolve(project, "a.py", "half\n")
    (project.tree / "dir" / "new.py").unlink()
    (project.tree / "noeol.txt").write_text("not added\n")
    upgrade.abort(project.workspace)
    assert everything(project) == before


def test_at_a_second_conflict(project: Project) -> None:
    two_clashes(project)
    before = everything(project)
    start(project)
    resolve(project, "a.py", numbered(line_10="both"))
    assert "0002-second.patch" in go_on(project).stopped
    upgrade.abort(project.workspace)
    assert everything(project) == before
    project.apply()
    assert everything(project) == before
