# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""`apply`: the pinned source with the series on it, one commit a patch."""

from __future__ import annotations

import argparse

from overlay.patchfile import number_of_patches
from overlay.pin import load_pin
from overlay.tree import apply_series


def configure_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "apply",
        help="make .work/vllm the pinned source with the series applied; again: no change",
        epilog="example: ./apply_patches.py apply --without marlin-int8-report",
    )
    parser.add_argument(
        "--source",
        metavar="DIR|URL",
        help="take the source from a git checkout or URL at the pinned tag, not from the sdist",
    )
    parser.add_argument(
        "--anew", action="store_true", help="import the source again, in place of the tree there is"
    )
    parser.add_argument(
        "--without", metavar="NAME", action="append", default=[],
        help="leave a patch out, with those that need it (may be given more than once)",
    )  # fmt: skip
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> int:
    """Apply; print what was done and which hunks fitted at another line."""
    pin = load_pin()
    outcome = apply_series(pin, source_of=args.source, anew=args.anew, without=args.without)
    for file, offset in outcome.offsets:
        print(
            f"{file}:{offset.patch_line}: {offset.path}: fits at line {offset.found}, not "
            f"{offset.said}: `export` rewrites it"
        )
    for name, reason in outcome.left_out.items():
        print(f"left out: {name}: {reason}")
    count = number_of_patches(len(outcome.series.patches))
    done = "applied" if outcome.moved else "no change:"
    print(f".work/vllm: vLLM {pin.version}, {done} {count}")
    return 0
