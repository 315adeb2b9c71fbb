# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""`status`: what state the tree is in, and each patch."""

from __future__ import annotations

import argparse
import json

from overlay.pin import load_pin
from overlay.status import status


def configure_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "status",
        help="pristine, applied, partial, dirty, unexported, upgrading, not-the-pin or absent",
        epilog="example: ./apply_patches.py status --json",
    )
    parser.add_argument("--json", action="store_true", help="print it for a machine")
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> int:
    """Print the state; whatever it is, the answer is given (exit code 0)."""
    found = status(load_pin())
    if args.json:
        print(json.dumps(found.as_json(), indent=2))
        return 0
    print(f"{found.state}: {found.detail}")
    width = max((len(patch.file) for patch in found.patches), default=0)
    for patch in found.patches:
        print(f"  {patch.file:{width}}  {patch.state}")
    return 0
