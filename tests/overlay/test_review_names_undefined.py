# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A name of the patched file itself that the new version's file does not bind any more is named."""

from __future__ import annotations

from reviewing import verdict
from small_project import Project

OLD = """\
from os import path as where

LIMIT = 3


def first(size):
    width = size + 1
    return width


# a line
# another
# and another


def second():
    return 0
"""
PATCHED = OLD.replace("    return 0\n", "    x = where.join(LIMIT)\n    return x\n")


def patched(project: Project, patch: str) -> None:
    """Add a patch that makes the file so."""
    project.commit_model({"pkg/own.py": OLD}, "the file")
    project.rebase_pin({**project.base, "pkg/own.py": OLD})
    project.add_patch("first", {"pkg/own.py": patch})


def test_import_and_constant_are_gone(project: Project) -> None:
    patched(project, PATCHED)
    new = OLD.replace("from os import path as where\n\nLIMIT = 3\n", "import os\n\nMOST = 3\n")
    found = verdict(project, {"pkg/own.py": new})
    assert found.outcome.value == "clean"
    assert [(entry.line, entry.name) for entry in found.missing] == [(17, "LIMIT"), (17, "where")]
    assert found.needs_work


def test_local_variable_was_renamed(project: Project) -> None:
    text = OLD.replace("    return", "    print('one')\n    print('two')\n    return", 1)
    project.commit_model({"pkg/own.py": text}, "the file")
    project.rebase_pin({**project.base, "pkg/own.py": text})
    project.add_patch(
        "first", {"pkg/own.py": text.replace("    return width\n", "    return width * 2\n")}
    )
    new = text.replace("    width = size + 1\n", "    # wide\n    wide = size + 1\n")
    found = verdict(project, {"pkg/own.py": new})
    assert [(entry.line, entry.name) for entry in found.missing] == [(11, "width")]


def test_quiet_where_it_came_from_elsewhere(project: Project) -> None:
    patched(project, PATCHED)
    new = OLD.replace("LIMIT = 3", "from sys import maxsize as LIMIT")
    assert verdict(project, {"pkg/own.py": new}).missing == ()


def test_quiet_about_lines_that_are_not_the_patches(project: Project) -> None:
    patched(project, PATCHED)
    new = OLD.replace("    return width\n", "    return undefined_upstream\n")
    assert verdict(project, {"pkg/own.py": new}).missing == ()
