# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A work tree that git was killed in the middle of writing is finished by the next command."""

from small_project import Project, numbered

from overlay import store
from overlay.git import Git
from overlay.store import Record


def test_lock_and_half_a_file_are_repaired(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="3"), "new.py": "text\n"})
    series = project.apply()
    wanted = project.state()
    git = Git(project.tree)
    new = store.read_record(git, series.base)
    store.move(git, new, Record(series.base, ()))
    # As it is when the branch has moved and git dies at its second file.
    journal = git.dir / "overlay" / "journal.json"
    store._write(journal, {"old": {"head": series.base, "patches": []}, "new": store.asdict(new)})
    git.run("update-ref", "refs/heads/main", series.head)
    (git.dir / "index.lock").write_bytes(b"")
    (project.tree / "a.py").unlink()
    (project.tree / "new.py").write_text("te")
    project.apply()
    assert project.state() == wanted
