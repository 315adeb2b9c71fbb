# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""`review`: what each patch does on other vLLM versions."""

from __future__ import annotations

import argparse
import json

from overlay.pin import load_pin
from overlay.report import as_json, as_markdown, as_text
from overlay.review import review


def configure_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "review",
        help="try each patch on other vLLM versions: clean, offset, merged, conflict, upstream, "
        "retire; and the names that are gone there",
        description="Lays the series over other versions' source, in memory: the work tree is not "
        "touched. Exit code 0: nothing to do by hand; 1: a merge, a conflict, a name that is gone "
        "or a doubt to look at.",
        epilog="example: ./apply_patches.py review 0.31.0 0.33.0 --markdown > review.md",
    )
    parser.add_argument("versions", nargs="+", metavar="VERSION", help="as in 0.33.0")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print it for a machine")
    output.add_argument("--markdown", action="store_true", help="print it for a pull request")
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> int:
    """Print the review; 0 when no version needs a person, 1 otherwise."""
    pin = load_pin()
    reports = review(args.versions, pin)
    if args.json:
        print(json.dumps(as_json(pin.version, reports), indent=2))
    elif args.markdown:
        print(as_markdown(pin.version, reports), end="")
    else:
        print(as_text(pin.version, reports), end="")
    return int(any(report.needs_work for report in reports))
