# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A foreign patch that does not fit, or is no whole text diff, changes nothing."""

import pytest
from small_project import Project, numbered

from overlay import edits
from overlay.errors import OverlayError, UsageError


def wrong_context(diff: bytes) -> bytes:
    return diff.replace(b" line 4", b" line four")


def cut_short(diff: bytes) -> bytes:
    return diff[:-20]


def binary(diff: bytes) -> bytes:
    return b"diff --git a/x b/x\nBinary files a/x and b/x differ\n"


def no_diff(diff: bytes) -> bytes:
    return b"Only words.\n"


def outside(diff: bytes) -> bytes:
    return diff.replace(b"a.py", b"../a.py")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (wrong_context, r"x\.patch:5: a\.py: hunk 1: does not fit"),
        (cut_short, "x.patch"),
        (binary, "a binary patch"),
        (no_diff, "there is no diff in it"),
        (outside, "leads out of the tree"),
    ],
)
def test_tree_is_as_it_was(project: Project, spoil, words: str) -> None:
    project.apply_nothing()
    project.commit_model({"a.py": numbered(line_3="3")}, "x")
    file = project.root / "x.patch"
    file.write_bytes(spoil(project.model_git("diff", "HEAD~1", "HEAD")))
    before = project.state()
    with pytest.raises(OverlayError, match=words):
        edits.take_in(file, None, project.pin, project.workspace)
    assert project.state() == before


def test_no_such_file(project: Project) -> None:
    project.apply_nothing()
    with pytest.raises(UsageError, match="No such file"):
        edits.take_in(project.root / "none.patch", None, project.pin, project.workspace)
