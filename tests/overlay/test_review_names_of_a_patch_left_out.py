# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A patch that uses what a retired one defined says so."""

from __future__ import annotations

from reviewing import reviewed
from small_project import Project


def test_named(project: Project) -> None:
    project.add_patch(
        "first", {"lib/a.py": "def f():\n    return 1\n"}, Retire_Probe="b.py: absent one"
    )
    project.add_patch("second", {"lib/b.py": "from lib.a import f\n\nx = f()\n"}, Depends="first")
    report = reviewed(project, {"b.py": "two\n", "lib/__init__.py": ""})
    assert [entry.outcome.value for entry in report.verdicts] == ["retire", "clean"]
    second = report.verdicts[1]
    assert [entry.name for entry in second.missing] == ["lib.a.f"]
    assert second.doubts == ("needs first, which is left out here",)
