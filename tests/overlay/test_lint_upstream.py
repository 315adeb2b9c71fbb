# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Where headers and upstream.yaml do not agree, lint says so."""

from __future__ import annotations

import pytest
from small_project import Project
from test_lint_right import with_test

from overlay.lint import lint

OPEN = "a/b#1: {kind: pull-request, state: open, looked-at: 2026-02-03}\n"
MERGED = (
    "a/b#1: {kind: pull-request, state: merged, looked-at: 2026-02-03, first-release: '0.33.0'}\n"
)
CASES = [
    ({"Bug": "a/b#1"}, "", ":4: Bug: a/b#1 is not in upstream.yaml"),
    ({"Bug": "https://example.com/a/b/issues/1"}, "", ":4: Bug: a/b#1 is not in upstream.yaml"),
    ({"Forwarded": "a/b#1"}, MERGED, "a/b#1 was merged: the patch needs an Applied-Upstream"),
    ({"Applied_Upstream": "a/b#1"}, OPEN, "upstream.yaml says that a/b#1 is open, not merged"),
    (
        {"Applied_Upstream": "0.34.0, a/b#1"},
        MERGED,
        "a/b#1 came with 0.33.0, the patch's Applied-Upstream says 0.34.0",
    ),
    ({}, OPEN, "upstream.yaml: a/b#1: no patch names it"),
    ({}, "a/b#1: {}\n", "upstream.yaml: a/b#1: kind: expected one of"),
]


@pytest.mark.parametrize(("fields", "lock", "words"), CASES, ids=[case[2] for case in CASES])
def test_it_is_named(project: Project, fields: dict[str, str], lock: str, words: str) -> None:
    with_test(project)
    project.add_patch("first", {"b.py": "one\n"}, **fields)
    (project.patches / "upstream.yaml").write_text(lock)
    faults = lint(project.workspace)
    assert len(faults) == 1
    assert words in faults[0]


@pytest.mark.parametrize(
    ("fields", "lock"),
    [
        ({"Bug": "a/b#1"}, OPEN),
        ({"Forwarded": "a/b#1"}, OPEN),
        ({"Applied_Upstream": "0.33.0, a/b#1"}, MERGED),
    ],
)
def test_right(project: Project, fields: dict[str, str], lock: str) -> None:
    with_test(project)
    project.add_patch("first", {"b.py": "one\n"}, **fields)
    (project.patches / "upstream.yaml").write_text(lock)
    assert lint(project.workspace) == []
