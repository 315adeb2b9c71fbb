# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The loop of the benchmarks of kernels: shapes and numbers of tokens, and who is left out."""

import argparse
import itertools
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernel_table import SHAPES, Row, Series, Shape, parse_shapes, passes
from needs import need_folder

Built = dict[Series, tuple[Any, Any]]  # its Problem, and what was made of it to be timed


def sweep_parser(description: str | None) -> argparse.ArgumentParser:
    """A command line with what every sweep takes."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", required=True, type=Path, help="JSON file for the rows")
    parser.add_argument("--shapes", nargs="+", metavar="NxK", help="(the eight of SHAPES)")
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds for it all")
    return parser


def parse_sweep(parser: argparse.ArgumentParser, argv: Sequence[str]) -> argparse.Namespace:
    """A command line of `sweep_parser`. Ends the process with code 2 when it is wrong."""
    args = parser.parse_args(argv)
    try:
        args.shapes = parse_shapes(args.shapes) if args.shapes else list(SHAPES)
    except ValueError as fault:
        parser.error(str(fault))
    need_folder(parser, args.out)
    return args


def first_line(fault: Exception) -> str:
    """A fault as one line of the report."""
    return f"{type(fault).__name__}: {(str(fault).splitlines() or [''])[0]}"


@dataclass(frozen=True)
class Sweep:
    """What is measured, until when, and where the rows go.

    Humming makes its choices for a shape once, hence for the tokens of the whole run.
    """

    shapes: Sequence[Shape]
    series: Sequence[Series]
    tokens: Sequence[int]
    deadline: float  # of time.monotonic()
    out: Path

    def is_over(self) -> bool:
        """Whether the budget is spent."""
        return time.monotonic() > self.deadline

    def run(
        self,
        make: Callable[[Any], Any],
        measure: Callable[[Built, Shape, int, list[Row]], list[Row]],
    ) -> list[Row]:
        """All rows, sorted by shape and tokens; they are saved as they come.

        `make` makes what is timed of a Problem. `measure` returns the rows of one shape and number
        of tokens, of all series, given the rows of before; it takes out of Built whom it gives up.
        Who is left out is named once and is not built again.
        """
        import torch

        rows: list[Row] = []
        absent: set[Series] = set()
        remaining = {shape: list(self.series) for shape in self.shapes}
        # A budget that is too small ends with the larger products of the last shapes missing.
        for tokens, shape in itertools.product(passes(self.tokens), self.shapes):
            if not remaining[shape]:
                continue
            built = {} if self.is_over() else self.build(remaining[shape], shape, make, absent)
            for m in tokens:
                if self.is_over():
                    n, k = shape
                    print(f"left out: {n}x{k} from M = {m} on: the budget is spent", flush=True)
                    built.clear()
                    break
                rows += measure(built, shape, m, rows)
            remaining[shape] = list(built)
            del built
            torch.cuda.empty_cache()
            self.save(rows)
        rows.sort(key=lambda r: self.shapes.index((r["n"], r["k"])))
        self.save(rows)
        if not rows:
            print("error: nothing was measured", file=sys.stderr)
        return rows

    def build(
        self,
        chosen: Sequence[Series],
        shape: Shape,
        make: Callable[[Any], Any],
        absent: set[Series],
    ) -> Built:
        """What is timed, of each series on one shape; who is Absent is named, and added to it."""
        from kernel_series import Absent, make_problem

        built: Built = {}
        for series in chosen:
            if series in absent:
                continue
            try:
                problem = make_problem(series, *shape, self.tokens)
                built[series] = problem, make(problem)
            except Absent as fault:
                absent.add(series)
                print(f"left out: {series.name}: {fault}", flush=True)
            except Exception as fault:
                # A peer's own error, whatever it is: the others are measured all the same.
                n, k = shape
                print(f"left out: {series.name} {n}x{k}: {first_line(fault)}", flush=True)
        return built

    def save(self, rows: Sequence[Row]) -> None:
        """Writes the rows, if there are any."""
        if rows:
            self.out.write_text(json.dumps(rows, indent=1) + "\n")
