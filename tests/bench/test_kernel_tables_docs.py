# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The tables of docs/kernels.md have the cells that the program makes of the kept rows."""

import re

import kernel_docs
import kernel_goals
from kernel_docs import Table

RATE = r"(TB/s|TFLOP/s), (?:M = )?(\d+)"  # the head of a last column
SAID = [table for table in kernel_docs.tables(kernel_docs.section()) if table.heads[0] == "N x K"]
MICROSECONDS = [table for table in SAID if re.fullmatch(RATE, table.heads[-1])]
RATIOS = [table for table in SAID if table not in MICROSECONDS]
FOUND = kernel_docs.tables(kernel_goals.report(kernel_docs.rows(), *kernel_docs.rates()))


def rates_of_ours(shape: str, unit: str, m: int) -> str:
    """The rates of both activations with a scale a channel, from the rows."""
    key, digits = {"TB/s": ("tb_s", 2), "TFLOP/s": ("tflop_s", 0)}[unit]
    found = {
        row["activation"]: f"{row[key]:.{digits}f}"
        for row in kernel_docs.rows()
        if (f"{row['n']}x{row['k']}", row["m"]) == (shape, m)
        and (row["kernel"], row["scale"]) == ("ternary", "channel")
    }
    return " / ".join(found[activation] for activation in kernel_goals.ACTIVATIONS)


def names(table: Table) -> list[str]:
    return [name for name, *_ in table.lines]


def test_all_are_there() -> None:
    assert len(MICROSECONDS) == 2
    assert len(RATIOS) == len(FOUND) - 1 == len(kernel_goals.COMPARISONS)


def test_microseconds() -> None:
    said: dict[tuple[str, str], str] = {}
    for table in MICROSECONDS:
        assert names(table) == names(FOUND[0])
        said |= table.cells
    for (shape, head), cell in list(said.items()):
        if rate := re.fullmatch(RATE, head):
            assert cell == rates_of_ours(shape, rate[1], int(rate[2])), (shape, head)
            del said[shape, head]
    assert said == FOUND[0].cells


def test_ratios() -> None:
    """Some tables show a selection of the columns, and have the goal in the text alone."""
    for said, found in zip(RATIOS, FOUND[1:], strict=True):
        assert names(said) == names(found)
        with_goals = any("(" in cell for cell in said.cells.values())
        shown = {
            key: cell if with_goals else re.sub(r" \([\d.]+\)", "", cell)
            for key, cell in found.cells.items()
        }
        assert said.cells == {key: shown.get(key) for key in said.cells}
