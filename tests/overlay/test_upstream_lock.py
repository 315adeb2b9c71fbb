# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""upstream.yaml: an entry that is not right is refused by its name, and what is wrong with it."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from overlay.errors import UsageError
from overlay.upstream import load_upstream

RIGHT = """\
a/b#1:
  kind: pull-request
  state: merged
  title: Some title
  looked-at: 2026-02-03
  merged-as: 0123456789ab
  first-release: "0.33.0"
"""
CASES = [
    ("a/b#1:", "a/b:", "a/b: expected owner/repository#number"),
    ("pull-request", "patch", "a/b#1: kind: expected one of issue"),
    ("state: merged", "state: done", "a/b#1: state: expected one of open, merged, closed"),
    ("state: merged", "state: open", "a/b#1: is open, and yet merged"),
    ("2026-02-03", "today", "a/b#1: looked-at: expected a day"),
    ("  looked-at: 2026-02-03\n", "", "a/b#1: looked-at: expected a day"),
    ("2026-02-03", "2026-02-30", "not YAML"),
    ("0123456789ab", "main", "a/b#1: merged-as: expected a commit"),
    ('"0.33.0"', "0.33", "a/b#1: first-release: expected a version in quotes"),
    ("title:", "titel:", "a/b#1: no such key: 'titel'"),
    ("a/b#1:", "a/b#1: [", "not YAML"),
]


def test_what_it_says(tmp_path: Path) -> None:
    (tmp_path / "upstream.yaml").write_text(RIGHT)
    found = load_upstream(tmp_path)["a/b#1"]
    assert (found.kind, found.state, found.first_release) == ("pull-request", "merged", "0.33.0")
    assert found.looked_at == date(2026, 2, 3)
    assert found.in_release("0.33.0")
    assert found.in_release("0.100.0")
    assert not found.in_release("0.32.9")


def test_without_the_file_nothing_is_known(tmp_path: Path) -> None:
    assert load_upstream(tmp_path) == {}


@pytest.mark.parametrize(("old", "new", "words"), CASES, ids=[case[2] for case in CASES])
def test_entry_is_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in RIGHT
    (tmp_path / "upstream.yaml").write_text(RIGHT.replace(old, new, 1))
    with pytest.raises(UsageError, match=r"^upstream\.yaml: ") as caught:
        load_upstream(tmp_path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
