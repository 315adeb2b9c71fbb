# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Killed at any moment of the import of another version, the next review comes out right."""

from killing import kills, resetting
from small_project import BASE, Project, numbered

from overlay.review import Report, review


def test_next_review_is_right(project: Project) -> None:
    project.add_version("0.33.0", {**BASE, "a.py": "# new\n" + numbered()})
    project.add_patch("first", {"a.py": numbered(line_5="5")})
    project.apply()
    state = project.state()
    reset = resetting(project.tree, project.root / "kept")

    def work() -> list[Report]:
        return review(["0.33.0"], project.pin, project.workspace)

    for moment in kills("review", work, reset, 15, 10):
        (report,) = work()
        assert report.verdicts[0].outcome.value == "offset", moment
        assert project.state() == state, moment
