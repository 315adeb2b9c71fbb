# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Hunks that fit, but where a merge would put them elsewhere, are not taken for clean."""

from __future__ import annotations

from reviewing import verdict
from small_project import Project

BODY = "    z = 0\n    a = 1\n    b = 2\n    c = 3\n    d = 4\n    e = 5\n    f = 6\n"
OLD = "def f():\n" + BODY


def test_the_place_is_a_twin(project: Project) -> None:
    project.commit_model({"pkg/mod.py": OLD}, "the function")
    project.rebase_pin({**project.base, "pkg/mod.py": OLD})
    project.add_patch("first", {"pkg/mod.py": OLD.replace("c = 3", "c = 33")})
    # The patched function has changed in its context; a twin of it as it was follows.
    changed = OLD.replace("    e = 5\n", "    e = 5  # changed\n")
    found = verdict(project, {"pkg/mod.py": changed + "\n\ndef g():\n" + BODY})
    assert found.outcome.value == "merged 3-way"
    assert found.reason == "its hunks fit, but a merge gives another result in pkg/mod.py"
    assert found.needs_work
