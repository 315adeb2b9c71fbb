# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A review is printed as a table, as Markdown and as JSON, each with all that needs a person."""

from __future__ import annotations

import json

import pytest

from overlay.names import Missing
from overlay.report import as_json, as_markdown, as_text
from overlay.review import Outcome, Report, Verdict

GONE = Missing("pkg/new.py", 3, "pkg.mod.f", "pkg.mod has no f")
FIRST = Verdict("0001-first.patch", "first", Outcome.CLEAN, "every hunk fits at its line")
NAMES = Verdict("0002-second.patch", "second", Outcome.CLEAN, "it fits", (GONE,), ("some doubt",))
CLASH = Verdict("0002-second.patch", "second", Outcome.CONFLICT, "a_b.py:3 has changed here")
REPORTS = [Report("0.31.0", True, (FIRST, NAMES)), Report("0.33.0", False, (FIRST, CLASH))]


def test_text() -> None:
    text = as_text("0.32.0", REPORTS)
    assert text.startswith(
        "patch        0.31.0                  0.33.0\n"
        "0001-first   clean                   clean\n"
        "0002-second  clean, 1 name gone (?)  conflict\n"
    )
    assert "0.31.0 (the series is for 0.32.0): 2 clean; 1 needs a look\n" in text
    assert "      pkg/new.py:3: pkg.mod.f: pkg.mod has no f\n      some doubt\n" in text
    assert "0.33.0 (the series is for 0.32.0): 1 clean, 1 conflict; 1 needs a look\n" in text
    assert "  0002-second.patch: conflict: a_b.py:3 has changed here\n" in text


def test_markdown() -> None:
    text = as_markdown("0.32.0", REPORTS)
    assert (
        "| Patch | 0.31.0 | 0.33.0 |\n| --- | --- | --- |\n| 0001-first | clean | clean |\n" in text
    )
    assert "| 0002-second | clean, 1 name gone (?) | conflict |\n" in text
    assert "- **second**: conflict: a\\_b.py:3 has changed here\n" in text
    assert "  - pkg/new.py:3: pkg.mod.f: pkg.mod has no f\n  - some doubt\n" in text
    assert "**first**" not in text  # there is nothing to say of it


def test_json() -> None:
    data = json.loads(json.dumps(as_json("0.32.0", REPORTS)))
    assert data["pin"] == "0.32.0"
    old, new = data["versions"]
    assert (old["version"], old["pinned"], old["needs_work"]) == ("0.31.0", True, True)
    assert [entry["name"] for entry in new["patches"]] == ["first", "second"]
    assert new["patches"][1]["outcome"] == "conflict"
    assert old["patches"][1]["missing"] == [
        {"path": "pkg/new.py", "line": 3, "name": "pkg.mod.f", "reason": "pkg.mod has no f"}
    ]
    assert old["patches"][1]["doubts"] == ["some doubt"]


@pytest.mark.parametrize("render", [as_text, as_markdown])
def test_version_that_is_not_pinned(render: object) -> None:
    assert callable(render)
    assert "pin.yaml has no hash for this version" in render("0.32.0", REPORTS[1:])
    assert "pin.yaml has no hash for this version" not in render("0.32.0", REPORTS[:1])
