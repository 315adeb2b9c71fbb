# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Reviewing a small project's series on another version of its source."""

from __future__ import annotations

from collections.abc import Mapping

from small_project import BASE, Content, Project

from overlay.names import Missing
from overlay.review import Report, Verdict, review


def reviewed(project: Project, changes: Mapping[str, Content]) -> Report:
    """The series on a 0.33.0 that is the base with these changes (None: there is no such file)."""
    files = {name: text for name, text in {**BASE, **changes}.items() if text is not None}
    project.add_version("0.33.0", files)
    if not project.tree.exists():
        project.apply_nothing()
    (report,) = review(["0.33.0"], project.pin, project.workspace)
    assert report.version == "0.33.0"
    return report


def verdict(project: Project, changes: Mapping[str, Content]) -> Verdict:
    """The verdict on the last patch of the series."""
    return reviewed(project, changes).verdicts[-1]


class Python:
    """A package whose next version changes, and a patch that adds `lines` to a file beside it."""

    def __init__(self, project: Project, old: Mapping[str, str], lines: str) -> None:
        self.project = project
        project.commit_model(old, "the package")
        project.rebase_pin({**BASE, **old})
        project.add_patch("adds", {"pkg/new.py": lines})

    def missing(self, new: Mapping[str, Content]) -> list[Missing]:
        """The names that the patch misses in a version with these files; it applies cleanly."""
        found = verdict(self.project, {**self.project.base, **new})
        assert found.outcome.value == "clean"
        return list(found.missing)

    def said(self, new: Mapping[str, Content]) -> list[str]:
        """`missing`, as line, name and reason."""
        found = self.missing(new)
        assert all(entry.path == "pkg/new.py" for entry in found)
        return [f"{entry.line}: {entry.name}: {entry.reason}" for entry in found]
