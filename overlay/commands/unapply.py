# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""`unapply`: back to the pristine source."""

from __future__ import annotations

import argparse

from overlay.pin import load_pin
from overlay.tree import unapply


def configure_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "unapply",
        help="bring .work/vllm back to the pristine source",
        epilog="example: ./apply_patches.py unapply",
    )
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> int:
    """Unapply; print what was done."""
    pin = load_pin()
    done = "pristine" if unapply(pin) else "no change: pristine"
    print(f".work/vllm: vLLM {pin.version}, {done}")
    return 0
