# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What cannot be reviewed is refused with one line."""

from __future__ import annotations

import dataclasses

import pytest
from small_project import BASE, Project

from overlay.errors import OverlayError, UsageError
from overlay.review import review


def test_nothing_imported(project: Project) -> None:
    with pytest.raises(OverlayError, match=r"there is no \.work/vllm yet"):
        review(["0.33.0"], project.pin, project.workspace)


def test_no_version(project: Project) -> None:
    project.apply()
    with pytest.raises(UsageError, match="'latest' is not a version of vLLM"):
        review(["latest"], project.pin, project.workspace)


def test_tree_of_another_pin(project: Project) -> None:
    project.apply()
    pin = dataclasses.replace(project.pin, version="0.32.1")
    with pytest.raises(OverlayError, match=r"is vLLM 0\.32\.0, pin\.yaml says 0\.32\.1"):
        review(["0.33.0"], pin, project.workspace)


def test_series_that_does_not_fit_its_own_pin(project: Project) -> None:
    file = project.add_patch("first", {"b.py": "one\n"})
    project.edit(file, "-two\n", "-2\n")
    project.apply_nothing()
    project.add_version("0.33.0", BASE)
    with pytest.raises(OverlayError, match=f"^{file}:"):
        review(["0.33.0"], project.pin, project.workspace)
