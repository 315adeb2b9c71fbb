# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""`drop`: patches out of the series."""

from __future__ import annotations

import argparse

from overlay import edits
from overlay.pin import load_pin

BACK = """\
the way back, if patches/ was committed before:
  git stash push -q -u -- patches
  ./apply_patches.py apply"""


def configure_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "drop",
        help="take patches out of the tree and of patches/; refused when others need them",
        epilog="example: ./apply_patches.py drop cpu-slot-mapping",
    )
    parser.add_argument("names", metavar="NAME", nargs="+", help="a patch's name")
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> int:
    """Drop; print the files that are gone, what is left of them, and the way back."""
    dropped = edits.drop(args.names, load_pin())
    for file in dropped.files:
        print(f"removed: {file}")
    for line in dropped.left:
        print(f"look at: {line}")
    print(BACK)
    return 0
