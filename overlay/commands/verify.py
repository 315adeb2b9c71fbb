# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""`verify`: wheels, or installed copies, against the manifest inside them."""

from __future__ import annotations

import argparse
from pathlib import Path

from overlay.errors import OverlayError
from overlay.patchfile import number_of_patches
from overlay.verify import verify


def configure_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "verify",
        help="check wheels, or installed copies, against the manifest inside them",
        epilog="example: ./apply_patches.py verify dist/vllm-*.whl",
    )
    parser.add_argument(
        "paths", type=Path, nargs="+", metavar="PATH",
        help="a wheel, or the site-packages folder vLLM is in",
    )  # fmt: skip
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> int:
    """Verify each; the worst exit code of them."""
    return max(_verify(path, args.debug) for path in args.paths)


def _verify(path: Path, debug: bool) -> int:
    """Print one line a fault; 0 when there is none, 1 otherwise, 2 when there is no such file."""
    try:
        report = verify(path)
    except OverlayError as fault:
        if debug:
            raise
        return fault.tell()
    for line in report.faults:
        print(line)
    for note in report.notes:
        print(f"note: {note}")
    if report.faults:
        print(f"{path}: {len(report.faults)} fault{'s' * (len(report.faults) > 1)}")
        return 1
    count = number_of_patches(report.patches)
    print(f"{path}: {report.version}, {count}, {report.files} files: right")
    return 0
