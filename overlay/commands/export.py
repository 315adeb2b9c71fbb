# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""`export`: the tree's commits to .patch files."""

from __future__ import annotations

import argparse

from overlay.export import export
from overlay.pin import load_pin


def configure_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "export",
        help="write the commits of .work/vllm to patches/, one patch a commit",
        epilog="example: git -C .work/vllm commit -a --amend; ./apply_patches.py export",
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit code 1 when something would be"
    )
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> int:
    """Export; print each file that changed, or would."""
    result = export(load_pin(), check=args.check)
    would = "would be " if args.check else ""
    for what, files in (
        ("new", result.new),
        ("rewritten", result.changed),
        ("removed", result.removed),
    ):
        for file in files:
            print(f"{would}{what}: {file}")
    print(f"unchanged: {len(result.same)} of {len(result.new + result.changed + result.same)}")
    return int(args.check and result.stale)
