# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""docs/kernels.md says of the kept rows what the program says of them."""

import json
import re
from pathlib import Path

import kernel_goals

ROOT = Path(__file__).parents[2]


def counts(text: str, words: str) -> list[tuple[int, int]]:
    """How many goals of how many, before these words."""
    return [(int(a), int(b)) for a, b in re.findall(rf"(\d+)\s+of\s+(\d+)\s+{words}", text)]


def test_goals_that_are_met() -> None:
    section = (ROOT / "docs" / "kernels.md").read_text().split("\n## Where it stands\n")[1]
    section = section.split("\n## ")[0]
    rates = re.search(r"reads\s+([\d.]+)\s+TB/s\s+and\s+does\s+(\d+)\s+TFLOP/s", section)
    assert rates is not None
    rows = json.loads((ROOT / "bench" / "results" / "kernels-h200.json").read_text())
    report = kernel_goals.report(rows, float(rates[1]), float(rates[2]))
    *of_tables, whole = counts(report, r"goals\s+met")
    assert len(of_tables) == 5
    # The whole stands in the text, before the tables.
    assert counts(section, r"are\s+met") == [whole, *of_tables]
