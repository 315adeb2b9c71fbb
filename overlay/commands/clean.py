# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""`clean`: what .work holds, and away with it."""

from __future__ import annotations

import argparse

from overlay.clean import clean, contents
from overlay.pin import load_pin


def configure_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "clean",
        help="show what .work holds and how large it is; with --yes remove it",
        epilog="example: ./apply_patches.py clean --yes",
    )
    parser.add_argument(
        "--yes",
        action="store_true",
        help="remove all of .work, whatever made it; downloads in the user's cache stay",
    )
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> int:
    """List, or remove; everything is made again when it is needed, offline too."""
    items = clean(load_pin()) if args.yes else contents()
    for item in items:
        print(f"{item.size / 1e6:9.1f} MB  {item.name:12}  {item.what}")
    total = sum(item.size for item in items)
    print(f"{total / 1e6:9.1f} MB  {'removed' if args.yes else 'in all: --yes removes it'}")
    return 0
