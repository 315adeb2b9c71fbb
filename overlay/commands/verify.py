# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""`verify`: a wheel, or an installed copy, against the manifest inside it."""

from __future__ import annotations

import argparse
from pathlib import Path

from overlay.verify import verify


def configure_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "verify",
        help="check a wheel, or an installed copy, against the manifest inside it",
        epilog="example: ./apply_patches.py verify dist/vllm-*.whl",
    )
    parser.add_argument(
        "path", type=Path, metavar="PATH", help="a wheel, or the site-packages folder vLLM is in"
    )
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> int:
    """Print one line a fault; 0 when there is none, 1 otherwise."""
    report = verify(args.path)
    for fault in report.faults:
        print(fault)
    for note in report.notes:
        print(f"note: {note}")
    if report.faults:
        print(f"{args.path}: {len(report.faults)} fault{'s' * (len(report.faults) > 1)}")
        return 1
    print(f"{args.path}: {report.version}, {report.patches} patches, {report.files} files: right")
    return 0
