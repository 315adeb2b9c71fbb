# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""`review` exits with 0 when no version needs a person, and with 1 when one does."""

from __future__ import annotations

import pytest

from overlay.cli import main
from overlay.commands import review as command
from overlay.review import Outcome, Report, Verdict

CODES = {
    Outcome.CLEAN: 0,
    Outcome.OFFSET: 0,
    Outcome.UPSTREAM: 0,
    Outcome.RETIRE: 0,
    Outcome.MERGED: 1,
    Outcome.CONFLICT: 1,
}


@pytest.mark.parametrize("outcome", Outcome)
def test_outcome(outcome: Outcome, monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = Verdict("0001-first.patch", "first", outcome, "why")
    clean = Verdict("0001-first.patch", "first", Outcome.CLEAN, "why")
    reports = [Report("0.31.0", True, (clean,)), Report("0.33.0", True, (verdict,))]
    monkeypatch.setattr(command, "review", lambda versions, pin: reports)
    assert main(["review", "0.31.0", "0.33.0"]) == CODES[outcome]


def test_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = Verdict("0001-first.patch", "first", Outcome.CLEAN, "why", doubts=("hm",))
    monkeypatch.setattr(command, "review", lambda *_: [Report("0.33.0", True, (verdict,))])
    assert main(["review", "0.33.0", "--json"]) == 1
