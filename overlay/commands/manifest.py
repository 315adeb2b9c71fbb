# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""`manifest`: PATCHES.md from the headers."""

from __future__ import annotations

import argparse

from overlay.errors import OverlayError
from overlay.files import whole_file
from overlay.manifest import render_manifest
from overlay.paths import HERE
from overlay.pin import load_pin


def configure_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "manifest",
        help="write PATCHES.md from the patches' headers",
        epilog="example: ./apply_patches.py manifest --check",
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit code 1 when PATCHES.md is stale"
    )
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> int:
    """Write PATCHES.md, or say whether it is what the headers give."""
    text = render_manifest(load_pin())
    path = HERE.manifest
    found = path.read_text(encoding="utf-8") if path.exists() else ""
    if args.check and found != text:
        raise OverlayError("PATCHES.md is stale: ./apply_patches.py manifest")
    if found != text:
        with whole_file(path) as draft:
            draft.write_text(text, encoding="utf-8")
    print(f"PATCHES.md: {'no change' if found == text else 'written'}")
    return 0
