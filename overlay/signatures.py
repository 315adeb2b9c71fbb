# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Signatures read from source, and whether a call or an override fits one."""

from __future__ import annotations

import ast
from dataclasses import dataclass

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Signature:
    """The parameters a caller sees, each with whether it has to be given.

    `only_positional` of the `positional` ones cannot be given by name.
    """

    positional: tuple[tuple[str, bool], ...]
    named: tuple[tuple[str, bool], ...] = ()
    only_positional: int = 0
    any_positional: bool = False
    any_named: bool = False

    def by_name(self) -> dict[str, bool]:
        """The parameters that can be given by name."""
        return dict([*self.positional[self.only_positional :], *self.named])


def of_function(node: Function, bound: bool) -> Signature:
    """The signature of a function, without its first parameter when it is `bound`."""
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args]
    required = len(every) - len(arguments.defaults)
    positional = [(entry.arg, index < required) for index, entry in enumerate(every)]
    drop = int(bound and bool(positional))
    return Signature(
        positional=tuple(positional[drop:]),
        named=tuple(
            (entry.arg, default is None)
            for entry, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        ),
        only_positional=max(len(arguments.posonlyargs) - drop, 0),
        any_positional=arguments.vararg is not None,
        any_named=arguments.kwarg is not None,
    )


def of_dataclass(fields: dict[str, bool]) -> Signature:
    """The signature of a dataclass's constructor; `fields` says which have to be given."""
    return Signature(tuple(fields.items()))


def misfit(call: ast.Call, signature: Signature) -> str:
    """Why a call does not fit, or an empty string; `*` and `**` arguments are given the benefit."""
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    spread = any(keyword.arg is None for keyword in call.keywords)
    given = len(call.args)
    takes = len(signature.positional)
    if not starred and given > takes and not signature.any_positional:
        return f"takes {takes} positional argument{'s' * (takes != 1)}, {given} are given"
    by_name = signature.by_name()
    names = [keyword.arg for keyword in call.keywords if keyword.arg is not None]
    for name in names:
        if name not in by_name and not signature.any_named:
            return f"has no parameter {name!r}"
    if starred or spread:
        return ""
    for index, (name, required) in enumerate((*signature.positional, *signature.named)):
        if required and name not in names and not (index < min(given, takes)):
            return f"needs {name!r}"
    return ""


def override_misfit(own: Signature, base: Signature) -> str:
    """Why callers of `base` cannot call `own`, or an empty string."""
    known = {name for name, _ in (*own.positional, *own.named)}
    expected = {name for name, _ in (*base.positional, *base.named)}
    if not own.any_named:
        for index, (name, _) in enumerate((*base.positional, *base.named)):
            taken = own.any_positional and index < len(base.positional)
            if name not in known and not taken:
                return f"now has the parameter {name!r}"
    if base.any_positional or base.any_named:
        return ""
    for name, required in (*own.positional, *own.named):
        if required and name not in expected:
            return f"no longer has the parameter {name!r}"
    return ""
