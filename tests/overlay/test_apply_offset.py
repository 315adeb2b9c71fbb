# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A hunk that fits in one other place is applied there and reported; export rewrites the patch."""

from small_project import Project, numbered

from overlay.export import export
from overlay.match import Offset
from overlay.tree import apply_series


def test_reported_then_rewritten(project: Project) -> None:
    project.commit_model({"a.py": numbered(line_20="20")}, "made on the base")
    patch = project.patch_bytes()
    project.model_git("reset", "-q", "--hard", "HEAD~1")
    first = project.add_patch("longer", {"a.py": "top\ntop\n" + numbered()})
    second = project.add_file("twenty", patch)
    outcome = apply_series(project.pin, project.workspace)
    assert outcome.offsets == [(second, Offset("a.py", 17, 17, 19))]
    assert (project.tree / "a.py").read_text() == "top\ntop\n" + numbered(line_20="20")
    result = export(project.pin, project.workspace)
    assert (result.same, result.changed) == ((first,), (second,))
    assert b"@@ -19,7 +19,7 @@" in (project.patches / second).read_bytes()
    assert not export(project.pin, project.workspace, check=True).stale
