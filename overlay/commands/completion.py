# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""`completion`: the script that completes this command in a shell."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from pathlib import Path

from overlay import cli
from overlay.paths import HERE
from overlay.pin import load_pin

# Prints the names of the patches in the series as it is when Tab is pressed.
_NAMES = f"sed -n 's/^[0-9]*-\\(.*\\)\\.patch$/\\1/p' {shlex.quote(str(HERE.patches / 'series'))}"
_PREAMBLE = {
    "bash": """\
_overlay_patches() {{ compgen -W "$({names})" -- "$1"; }}
_overlay_versions() {{ compgen -W "{versions}" -- "$1"; }}
""",
    "zsh": """\
_overlay_patches() {{ compadd -- ${{(f)"$({names})"}} }}
_overlay_versions() {{ compadd -- {versions} }}
""",
}


def configure_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "completion",
        help="print the script that completes this command in bash or zsh",
        epilog='example: eval "$(./apply_patches.py completion bash)"',
    )
    parser.add_argument("shell", choices=tuple(_PREAMBLE))
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> int:
    """Print the script, made from the parsers of all subcommands."""
    # Imported here: no other command needs it.
    import shtab

    parser = cli.parser()
    for action in _actions(parser):
        if action.type is Path:
            how = shtab.FILE
        elif action.dest in ("names", "without"):
            how = dict.fromkeys(_PREAMBLE, "_overlay_patches")
        elif action.dest in ("version", "versions"):
            how = dict.fromkeys(_PREAMBLE, "_overlay_versions")
        else:
            continue
        action.complete = how  # type: ignore[attr-defined]  # where shtab looks for it
    pin = load_pin()
    versions = " ".join(sorted({pin.version, *(entry.version for entry in pin.versions)}))
    preamble = _PREAMBLE[args.shell].format(names=_NAMES, versions=versions)
    print(shtab.complete(parser, args.shell, preamble=preamble))
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Every argument of a parser and of its subcommands."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from _actions(inner)
