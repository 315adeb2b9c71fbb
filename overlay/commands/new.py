# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""`new`: an empty patch to fill in."""

from __future__ import annotations

import argparse

from overlay import edits
from overlay.pin import load_pin


def configure_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "new",
        help="put an empty commit with a header to fill in on top; amend it, then export",
        epilog="example: ./apply_patches.py new marlin-int8-warmup",
    )
    parser.add_argument("name", metavar="NAME", help="the patch's name: small letters and hyphens")
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> int:
    """Make the commit; print how to go on."""
    edits.new(args.name, load_pin())
    print(f"{args.name}: an empty commit. Make the change, then:")
    print("  git -C .work/vllm commit -a --amend   # fill in the header's fields as well")
    print("  ./apply_patches.py export && ./apply_patches.py manifest && ./apply_patches.py lint")
    return 0
