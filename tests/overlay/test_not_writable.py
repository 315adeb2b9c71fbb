# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A folder that cannot be written is refused with one line that names it; nothing changes."""

import shutil

import pytest
from small_project import Project, numbered

# Root loses the right to write anywhere; for others the modes hold anyway.
WRAP = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
pytestmark = pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv")


@pytest.mark.parametrize(
    ("folder", "command"),
    [(".", "apply"), (".work", "apply"), (".", "export"), ("patches", "export")],
)
def test_it_is_named(project: Project, folder: str, command: str) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    project.apply()
    assert project.command("status")[0] == 0
    if command == "apply":
        shutil.rmtree(project.tree)
        (project.workspace.work / "lock").unlink()
    else:
        (project.tree / "b.py").write_text("two\n")
        project.git("commit", "-q", "-a", "-m", "second: b")
    place = project.workspace.root / folder
    before = project.everything()
    place.chmod(0o555)
    code, words = project.command(command, wrap=WRAP)
    place.chmod(0o755)
    if (folder, command) == (".", "apply"):  # .work is there and can be written
        assert code == 0
        return
    assert code == 1
    assert words.startswith("error: ") and words.count("\n") == 1
    assert f"{place.resolve()}" in words and "Permission denied" in words
    assert project.everything() == before
