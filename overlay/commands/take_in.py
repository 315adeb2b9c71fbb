# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""`import`: a patch from elsewhere becomes a commit."""

from __future__ import annotations

import argparse
from pathlib import Path

from overlay import edits
from overlay.pin import load_pin


def configure_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "import",
        help="make a commit of a patch from elsewhere: format-patch mail, DEP-3 or plain diff",
        epilog="example: ./apply_patches.py import ~/0001-Fix-it.patch --name fix-it",
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="the patch")
    parser.add_argument("--name", metavar="NAME", help="the patch's name (from its title)")
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> int:
    """Import; print which fields of the header are missing and how to go on."""
    found = edits.take_in(args.file, args.name, load_pin())
    for offset in found.offsets:
        print(
            f"{args.file.name}:{offset.patch_line}: {offset.path}: fits at line {offset.found}, "
            f"not {offset.said}"
        )
    print(f"{found.topic}: a commit on top of .work/vllm. Then:")
    if found.missing:
        fields = ", ".join(found.missing)
        print(f"  git -C .work/vllm commit --amend   # fill in {fields}")
    print("  ./apply_patches.py export && ./apply_patches.py manifest && ./apply_patches.py lint")
    return 0
