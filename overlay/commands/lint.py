# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""`lint`: the series and its headers."""

from __future__ import annotations

import argparse
import json

from overlay.lint import lint


def configure_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "lint",
        help="check patches/series, the headers and the form of each patch",
        epilog="example: ./apply_patches.py lint --json",
    )
    parser.add_argument("--json", action="store_true", help="print the faults for a machine")
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> int:
    """Print one line a fault; 0 when there is none, 1 otherwise."""
    faults = lint()
    if args.json:
        print(json.dumps(faults, indent=2))
    else:
        for fault in faults:
            print(fault)
        print(f"{len(faults)} fault{'s' * (len(faults) > 1)}" if faults else "patches/: right")
    return int(bool(faults))
