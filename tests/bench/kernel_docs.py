# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The rows of bench/kernels.py that were kept, and what the documents say of them."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from kernel_goals import Times
from kernel_table import Row

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Table:
    """A Markdown table: the heads of its columns, and its lines."""

    heads: list[str]
    lines: list[list[str]]

    @property
    def cells(self) -> dict[tuple[str, str], str]:
        """Cells by the first cell of their line and the head of their column."""
        return {
            (name, head): cell
            for name, *cells in self.lines
            for head, cell in zip(self.heads[1:], cells, strict=True)
        }


def tables(text: str) -> list[Table]:
    """The tables in Markdown; heads of numbers of tokens are without `M =`."""
    found = []
    for block in re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
        heads, _, *lines = (
            [cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()
        )
        found.append(Table([head.removeprefix("M = ") for head in heads], lines))
    return found


def section() -> str:
    """What docs/kernels.md says under "Where it stands"."""
    text = (ROOT / "docs" / "kernels.md").read_text().split("\n## Where it stands\n")[1]
    return text.split("\n## ")[0]


def rates() -> tuple[float, float]:
    """TB/s and TFLOP/s of the run, as that section has them."""
    found = re.search(r"reads\s+([\d.]+)\s+TB/s\s+and\s+does\s+(\d+)\s+TFLOP/s", section())
    assert found is not None
    return float(found[1]), float(found[2])


def rows() -> list[Row]:
    """The rows that were kept."""
    kept: list[Row] = json.loads((ROOT / "bench" / "results" / "kernels-h200.json").read_text())
    return kept


def times() -> Times:
    """Their times, beside the rates."""
    return Times(rows(), *rates())


def counts(text: str, words: str = "") -> list[tuple[int, int]]:
    """How many of how many, before these words."""
    return [(int(a), int(b)) for a, b in re.findall(rf"\b(\d+)\s+of\s+(\d+)\b\s*{words}", text)]
