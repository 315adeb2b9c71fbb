# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""`bisect`: the patch that makes a command fail."""

from __future__ import annotations

import argparse
import os
import sys

from overlay import archs as gpu
from overlay.bisect import bisect
from overlay.errors import UsageError
from overlay.paths import HERE
from overlay.pin import load_pin
from overlay.wheels import Wheels


def configure_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "bisect",
        help="find the patch that makes a command fail, and the earlier ones it needs",
        description="Runs CMD on scratch trees with some of the patches: exit code 0 passes, 125 "
        "cannot be tried, others fail. OVERLAY_TREE names the tree, which is the working folder.",
        epilog="example: ./apply_patches.py bisect -- python3 -m compileall -q vllm/envs.py",
    )
    parser.add_argument(
        "--wheel",
        action="store_true",
        help="build the wheel of each tree (kept in .work/bisect) and name it in OVERLAY_WHEEL",
    )
    parser.add_argument(
        "--archs", default=" ".join(gpu.DEFAULT), metavar="LIST",
        help="with --wheel: GPU architectures to compile for (%(default)s)",
    )  # fmt: skip
    parser.add_argument("cmd", metavar="CMD", nargs=argparse.REMAINDER, help="after --")
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> int:
    """Bisect; print the patch, what it needs, and how often the command ran."""
    command = args.cmd[1:] if args.cmd[:1] == ["--"] else args.cmd
    if not command:
        raise UsageError("bisect: give the command after --: bisect -- CMD ARGUMENT...")
    wheels = None
    if args.wheel:
        wheels = Wheels(HERE, gpu.parse(args.archs), len(os.sched_getaffinity(0)))
    found = bisect(
        command, load_pin(), wheels=wheels, say=lambda text: print(text, file=sys.stderr)
    )
    if found.maybe:
        print(f"one of these makes it fail: {', '.join([*found.maybe, found.name])}")
    else:
        print(f"{found.name} makes it fail")
    print(f"{found.name} needs: {', '.join(found.needs) or 'no other patch'}")
    if found.along:
        print(f"it fails only along with: {', '.join(found.along)}")
    print(f"runs: {found.runs}")
    return 0
