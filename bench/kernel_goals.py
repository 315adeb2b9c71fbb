# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What the ternary kernels are held against, and the tables that say where they stand.

bench/kernels.py prints them at its end, in Markdown. To print them again from its rows, with the
TB/s and TFLOP/s that it measured:

    python bench/kernel_goals.py kernels.json 4.2 790

Each cell is a ratio of two times; one that misses its goal is bold, with the goal behind it.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernel_table import TERNARY_BITS, Row, Shape

ACTIVATIONS = ("a16", "int8")
# By how much ours is to be faster than Humming with the same activations, M = 1 to 8.
FEW_TOKENS = {
    (17920, 1536): 2.3,
    (1536, 8960): 2.3,
    (28672, 4096): 1.7,
    (4096, 14336): 2.1,
    (34816, 5120): 1.7,
    (5120, 17408): 2.1,
}
# And for more tokens: up to so many, so much.
MORE_TOKENS = ((16, 1.5), (64, 1.3), (512, 1.1), (4096, 1.05))
# Of the matrix rate, the goal instead where it takes longer: 16-bit activations, M = 128 on.
MATRIX_SHARE, MATRIX_FROM = 0.97, 128
READ_FACTOR, READ_US = 1.2, 2.0  # times the reading of the weights, and on top; M = 1 to 8
MARLIN_M1, MARLIN_M1_WEIGHTS = 3.0, 20_000_000  # int4 Marlin at M = 1, from so many weights on
CUBLAS_INT8, CUBLAS_FROM = 1.9, 2048  # int8 activations against bf16
GROUP_COST, GROUP_UP_TO = 1.1, 16  # of a scale a group of 128 over a scale a channel


@dataclass(frozen=True)
class Cell:
    """One ratio, and whether it is as it should be; without a goal it is."""

    value: float
    goal: float | None = None
    at_most: bool = False

    @property
    def met(self) -> bool:
        """As the table shows it: rounded to two digits."""
        if self.goal is None:
            return True
        shown = round(self.value, 2)
        return shown <= self.goal if self.at_most else shown >= self.goal

    def __str__(self) -> str:
        text = f"{self.value:.2f}"
        return text if self.met else f"**{text}** ({self.goal:.4g})"


class Times:
    """Microseconds by shape, tokens and series of one run, and the floors of the same run."""

    def __init__(self, rows: Iterable[Row], tb_s: float, tflop_s: float) -> None:
        self.us = {
            (r["n"], r["k"], r["m"], r["kernel"], r["activation"], r["scale"]): float(r["us"])
            for r in rows
        }
        self.tb_s, self.tflop_s = tb_s, tflop_s
        self.shapes = list(dict.fromkeys((n, k) for n, k, *_ in self.us))
        self.tokens = sorted({key[2] for key in self.us})

    def ours(self, shape: Shape, m: int, activation: str, scale: str = "channel") -> float | None:
        """Of the ternary kernels."""
        return self.us.get((*shape, m, "ternary", activation, scale))

    def peer(self, shape: Shape, m: int, activation: str | None, prefix: str) -> float | None:
        """Of the fastest peer of this name, with these activations or any."""
        found = [
            us
            for (n, k, tokens, kernel, act, _), us in self.us.items()
            if (n, k, tokens) == (*shape, m)
            and kernel.startswith(prefix)
            and activation in (None, act)
        ]
        return min(found, default=None)


def humming_goal(shape: Shape, m: int) -> float | None:
    """How many times Humming's speed is asked for."""
    if m <= 8:
        return FEW_TOKENS.get(shape)
    return next((goal for up_to, goal in MORE_TOKENS if m <= up_to), None)


def against_humming(times: Times, shape: Shape, m: int, activation: str) -> Cell | None:
    """Humming's time over ours."""
    ours = times.ours(shape, m, activation)
    theirs = times.peer(shape, m, activation, "humming")
    if ours is None or theirs is None:
        return None
    goal = humming_goal(shape, m)
    if goal is not None and activation == "a16" and m >= MATRIX_FROM:
        matrix_us = 2 * m * shape[0] * shape[1] / times.tflop_s / 1e6 / MATRIX_SHARE
        goal = min(goal, round(theirs / matrix_us, 2))
    return Cell(theirs / ours, goal)


def against_reading(times: Times, shape: Shape, m: int, activation: str) -> Cell | None:
    """Our time over the reading of the weights and what goes with it."""
    ours = times.ours(shape, m, activation)
    if ours is None or m > 8:
        return None
    read_us = shape[0] * shape[1] * TERNARY_BITS / 8 / times.tb_s / 1e6
    return Cell(ours / (READ_FACTOR * read_us + READ_US), 1.0, at_most=True)


def against_marlin(times: Times, shape: Shape, m: int, activation: str) -> Cell | None:
    """Time of int4 Marlin with 16-bit activations over ours."""
    ours, theirs = times.ours(shape, m, activation), times.peer(shape, m, "a16", "marlin")
    if ours is None or theirs is None:
        return None
    large = shape[0] * shape[1] > MARLIN_M1_WEIGHTS
    return Cell(theirs / ours, MARLIN_M1 if m == 1 and large else 1.0)


def against_cublas(times: Times, shape: Shape, m: int, activation: str) -> Cell | None:
    """Time of cuBLAS in bf16 over ours."""
    ours, theirs = times.ours(shape, m, activation), times.peer(shape, m, None, "cublas")
    if ours is None or theirs is None:
        return None
    return Cell(theirs / ours, CUBLAS_INT8 if activation == "int8" and m >= CUBLAS_FROM else None)


def of_groups(times: Times, shape: Shape, m: int, activation: str) -> Cell | None:
    """Our time with a scale a group of 128 over that with a scale a channel."""
    ours = times.ours(shape, m, activation)
    grouped = times.ours(shape, m, activation, "group128")
    if ours is None or grouped is None:
        return None
    return Cell(grouped / ours, GROUP_COST if m <= GROUP_UP_TO else None, at_most=True)


COMPARISONS: tuple[tuple[str, Callable[[Times, Shape, int, str], Cell | None]], ...] = (
    ("Humming's time over ours", against_humming),
    (
        f"Ours over {READ_FACTOR} times the reading of the weights and {READ_US:.0f} microseconds",
        against_reading,
    ),
    ("Time of Marlin W4A16 over ours", against_marlin),
    ("Time of cuBLAS in bf16 over ours", against_cublas),
    ("Ours with a scale a group of 128 over a scale a channel", of_groups),
)


def table(title: str, cells: Mapping[tuple[Shape, int], Sequence[object]]) -> str:
    """A Markdown table, a line a shape and a column a number of tokens, under a title.

    A cell has 16 bits and int8, either of them None; rows and columns without a value are left out.
    """
    shown = {point: pair for point, pair in cells.items() if any(pair)}
    tokens = sorted({m for _, m in shown})
    lines = [f"| N x K | M = {' | '.join(map(str, tokens))} |", "|---" * (len(tokens) + 1) + "|"]
    for n, k in dict.fromkeys(shape for shape, _ in shown):
        pairs = [shown.get(((n, k), m), (None, None)) for m in tokens]
        line = " | ".join(" / ".join("-" if c is None else str(c) for c in p) for p in pairs)
        lines.append(f"| {n}x{k} | {line} |")
    return "\n".join([title, "", *lines, ""])


def report(rows: Sequence[Row], tb_s: float, tflop_s: float) -> str:
    """Our times and each comparison, and how many of the goals are met."""
    times = Times(rows, tb_s, tflop_s)
    points = [(shape, m) for shape in times.shapes for m in times.tokens]

    def microseconds(shape: Shape, m: int, activation: str) -> str | None:
        us = times.ours(shape, m, activation)
        return None if us is None else f"{us:.0f}" if us >= 100 else f"{us:.1f}"

    own = {(s, m): [microseconds(s, m, a) for a in ACTIVATIONS] for s, m in points}
    parts = [table("Ours, microseconds, 16 bits / int8", own)]
    met = asked = 0
    for title, compare in COMPARISONS:
        cells = {(s, m): [compare(times, s, m, a) for a in ACTIVATIONS] for s, m in points}
        goals = [c for pair in cells.values() for c in pair if c and c.goal is not None]
        good = sum(cell.met for cell in goals)
        met, asked = met + good, asked + len(goals)
        if any(any(pair) for pair in cells.values()):
            parts.append(table(f"{title}, 16 bits / int8; {good} of {len(goals)} goals met", cells))
    return "\n".join([*parts, f"{met} of {asked} goals met"])


def main(argv: Sequence[str]) -> int:
    """Prints the tables; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", type=Path, help="the JSON that bench/kernels.py wrote")
    parser.add_argument("tb_s", type=float, help="the read bandwidth of that run, TB/s")
    parser.add_argument("tflop_s", type=float, help="the bf16 matrix rate of that run, TFLOP/s")
    args = parser.parse_args(argv)
    if args.tb_s <= 0 or args.tflop_s <= 0:
        parser.error("both rates are positive: bench/kernels.py prints them")
    try:
        rows = json.loads(args.rows.read_text())
        if not rows:
            parser.error(f"{args.rows} is empty")
        print(report(rows, args.tb_s, args.tflop_s))
    except OSError as fault:
        parser.error(str(fault))
    except (KeyError, TypeError, ValueError):
        parser.error(f"{args.rows} holds no rows of bench/kernels.py")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
