# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""docs/kernels.md counts the goals that the kept rows meet as the program does."""

import re
from collections.abc import Callable

import kernel_docs
import kernel_goals
from kernel_docs import counts
from kernel_goals import ACTIVATIONS, Cell, Times
from kernel_table import Shape

REPORT = kernel_goals.report(kernel_docs.rows(), *kernel_docs.rates())
*OF_TABLES, WHOLE = counts(REPORT, r"goals\s+met")
_, READING, _, CUBLAS, GROUPS = OF_TABLES

Compare = Callable[[Times, Shape, int, str], Cell | None]


def cells(compare: Compare, least: int, most: int) -> list[Cell]:
    """Those of a comparison that have a goal, for so many tokens."""
    times = kernel_docs.times()
    found = [
        compare(times, shape, m, activation)
        for shape in times.shapes
        for m in times.tokens
        for activation in ACTIVATIONS
        if least <= m <= most
    ]
    return [cell for cell in found if cell is not None and cell.goal is not None]


def met(found: list[Cell]) -> tuple[int, int]:
    return sum(cell.met for cell in found), len(found)


def numbers(pattern: str, text: str) -> list[int]:
    """The groups of the first match, which has to be there."""
    found = re.search(pattern, text)
    assert found is not None
    return [int(number) for number in found.groups()]


def test_before_the_tables() -> None:
    """The whole stands in the text, each part before its table."""
    assert counts(kernel_docs.section(), r"are\s+met") == [WHOLE, *OF_TABLES]


def test_where_we_miss_them() -> None:
    text = kernel_docs.section().split("\nWhere we miss them:\n")[1].split("\n| goals met |")[0]
    least, most = numbers(r"\*(\d+) to (\d+) tokens\.\*", text)
    (many,) = numbers(r"\*(\d+) tokens and more\.\*", text)
    (percent,) = numbers(r"within\s+(\d+)\s+%", text)
    groups = cells(kernel_goals.of_groups, least, most)
    assert counts(text) == [
        met(cells(kernel_goals.against_humming, least, most)),
        READING,
        met(cells(kernel_goals.against_humming, many, kernel_docs.times().tokens[-1])),
        CUBLAS,
        GROUPS,
        (sum(round(100 * cell.value) <= 100 + percent for cell in groups), len(groups)),
    ]


def test_what_changed() -> None:
    (changes,) = (
        table for table in kernel_docs.tables(kernel_docs.section()) if "this one" in table.heads
    )
    for (_, before, now), (good, asked) in zip(changes.lines, OF_TABLES, strict=True):
        assert int(before.split(" of ")[1]) == asked
        assert int(now.replace(":", ",").split(",")[0]) == good
