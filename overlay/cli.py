# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The command line: one module a subcommand, one line for an error."""

from __future__ import annotations

import argparse
import importlib
import os
import sys

from overlay import tree
from overlay.errors import OverlayError, system_fault

COMMANDS = (
    "apply", "unapply", "status", "new", "import", "drop", "export", "lint", "manifest", "review",
    "upgrade", "bisect", "verify", "clean", "completion",
)  # fmt: skip

# Where the command's name cannot be a module's.
_MODULES = {"import": "take_in"}


def parser(commands: tuple[str, ...] = COMMANDS) -> argparse.ArgumentParser:
    """The parser with these subcommands."""
    top = argparse.ArgumentParser(
        prog="apply_patches.py",
        description="The pinned vLLM and the series of patches: .work/vllm and patches/.",
        epilog="Exit codes: 0 done; 1 the answer is no; 2 wrong usage or input.",
    )
    top.add_argument("--debug", action="store_true", help="show a traceback with an error")
    subparsers = top.add_subparsers(metavar="COMMAND", required=True)
    for command in commands:
        name = _MODULES.get(command, command)
        importlib.import_module(f"overlay.commands.{name}").configure_parser(subparsers)
    return top


def main(arguments: list[str] | None = None) -> int:
    """Run a command; return its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    # Importing the other commands takes longer than `status` should.
    named = tuple(command for command in COMMANDS if command in arguments[:2])
    args = parser(named or COMMANDS).parse_args(arguments)
    try:
        tree.repair()
        code: int = args.execute(args)
        sys.stdout.flush()
        return code
    except OverlayError as fault:
        if args.debug:
            raise
        return fault.tell()
    except BrokenPipeError:
        # Whoever read the output has had enough; nothing is left to say, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as fault:
        if args.debug:
            raise
        print(f"error: {system_fault(fault)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped: the next command repairs what is half done", file=sys.stderr)
        return 130
