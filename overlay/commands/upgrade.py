# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""`upgrade`: the series on another version of vLLM."""

from __future__ import annotations

import argparse
import sys

from overlay import upgrade
from overlay.errors import UsageError
from overlay.pin import load_pin


def configure_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "upgrade",
        help="rebase the series on another vLLM version; stops at a conflict, as git does",
        epilog="example: ./apply_patches.py upgrade 0.33.0 --yes",
    )
    parser.add_argument("version", metavar="VERSION", nargs="?", help="a version, as in 0.33.0")
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--continue", dest="go_on", action="store_true", help="go on; the conflict is resolved"
    )
    how.add_argument("--skip", action="store_true", help="go on without the patch that stopped")
    how.add_argument("--abort", action="store_true", help="back to what was there before")
    parser.add_argument(
        "--yes", action="store_true", help="drop what is upstream without being asked"
    )
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> int:
    """Go as far as it goes: 0 when done (or aborted), 1 when stopped at a conflict."""
    if bool(args.version) == (args.go_on or args.skip or args.abort):
        raise UsageError("upgrade: either VERSION or one of --continue, --skip and --abort")
    if args.abort:
        print(f"the upgrade to {upgrade.abort()} is undone")
        return 0
    pin = load_pin()
    if args.go_on:
        result = upgrade.go_on(pin)
    elif args.skip:
        result = upgrade.skip(pin)
    else:
        confirm = (lambda question: True) if args.yes else _ask
        result = upgrade.start(args.version, pin, confirm=confirm)
    for step in result.news:
        print(f"{step.file}: {step.outcome}")
    if result.stopped:
        print(result.stopped)
        return 1
    for note in result.notes:
        print(f"look at: {note}")
    print(f"vLLM {load_pin().version}: pin.yaml, patches/, PATCHES.md and .work/vllm are written")
    sys.stdout.flush()
    upgrade.told()
    return 0


def _ask(question: str) -> bool:
    if not sys.stdin.isatty():
        raise UsageError(f"{question} Say --yes, as there is nobody to ask")
    return input(f"{question} [Y/n] ").strip().lower() in ("", "y", "yes")
