# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The names that some lines of a Python file use, and whether the source tree defines them."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache

from pyflakes.checker import Checker
from pyflakes.messages import UndefinedName

from overlay.meaning import (
    UNKNOWN,
    Scope,
    Thing,
    Things,
    attribute,
    bases,
    members,
    of_expression,
    signature,
)
from overlay.meaning import in_module as find
from overlay.modules import Import, World, absolute
from overlay.signatures import Function, misfit, of_function, override_misfit


@dataclass(frozen=True)
class Use:
    """One use of a name: what it is called, where it stands, and what is wrong (or nothing).

    `kind` and `name` are the same for the same use in another version of the file.
    """

    kind: str
    name: str
    line: int
    wrong: str


def uses(world: World, path: str, lines: Collection[int]) -> Iterator[Use]:
    """Every use of a name in these lines (from 1) of a file that the source tells something of."""
    module = world.file(path)
    if module is None:
        return
    for name, line in _undefined(module.tree):
        if line in lines:
            yield Use("undefined", name, line, "nothing of this name is there any more")
    visitor = _Visitor(world, path, frozenset(lines))
    visitor.visit(module.tree)
    yield from visitor.found


@cache
def _undefined(tree: ast.Module) -> list[tuple[str, int]]:
    """Names that no scope of a file binds, and their lines."""
    return [
        (str(message.message_args[0]), message.lineno)
        for message in Checker(tree).messages
        if isinstance(message, UndefinedName)
    ]


class _Visitor(ast.NodeVisitor):
    """Walks a file with the scopes around each node at hand."""

    def __init__(self, world: World, path: str, lines: frozenset[int]) -> None:
        self.found: list[Use] = []
        self._world = world
        self._path = path
        self._lines = lines
        self._functions: tuple[Function, ...] = ()
        self._inside: ast.ClassDef | None = None

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.lineno in self._lines and self._world.ours(alias.name):
                gone = "" if self._world.holds(alias.name) else "there is no such module"
                self.found.append(Use("import", alias.name, alias.lineno, gone))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = absolute(Import(node.module or "", node.level, None), self._path)
        if not self._world.ours(module):
            return
        for alias in node.names:
            if not {node.lineno, alias.lineno} & self._lines:
                continue
            name = f"{module}.{alias.name}"
            if not self._world.holds(module):
                wrong = f"there is no module {module}"
            elif alias.name == "*" or find(self._world, module, alias.name):
                wrong = ""
            else:
                wrong = f"{module} has no {alias.name}"
            self.found.append(Use("import", name, alias.lineno, wrong))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.generic_visit(node)
        line = node.end_lineno or node.lineno
        if line not in self._lines or not isinstance(node.ctx, ast.Load):
            return
        things = of_expression(self._world, self._scope(), node.value)
        if not things or UNKNOWN in things:
            return
        found = attribute(self._world, things, node.attr)
        if UNKNOWN in found and len(found) == 1 and not _certain(things):
            return
        wrong = "" if found else f"{_described(things)} has no {node.attr}"
        self.found.append(Use("attribute", ast.unparse(node), line, wrong))

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        own = {node.func.end_lineno}
        own |= {argument.lineno for argument in node.args}
        own |= {keyword.value.lineno for keyword in node.keywords}
        if not own & self._lines:
            return
        things = of_expression(self._world, self._scope(), node.func)
        signatures = [signature(self._world, thing) for thing in things]
        known = [entry for entry in signatures if entry is not None]
        if not known or len(known) != len(signatures):
            return
        faults = [misfit(node, entry) for entry in known]
        given = [keyword.arg or "**" for keyword in node.keywords]
        name = f"{ast.unparse(node.func)}({', '.join(['_'] * len(node.args) + given)})"
        self.found.append(Use("call", name, node.lineno, "" if "" in faults else faults[0]))

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        outer = self._functions, self._inside
        if not self._functions and self._inside is None:
            self._check_class(node)
        self._functions, self._inside = (), node
        self.generic_visit(node)
        self._functions, self._inside = outer

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._visit_function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._visit_function(node)

    def _visit_function(self, node: Function) -> None:
        # Decorators, defaults and annotations stand in the scope around.
        for part in (*node.decorator_list, node.args, *([node.returns] if node.returns else [])):
            self.visit(part)
        outer = self._functions
        self._functions = (*outer, node)
        for statement in node.body:
            self.visit(statement)
        self._functions = outer

    def _check_class(self, node: ast.ClassDef) -> None:
        """Methods that override one of a base in this tree, and abstract ones left open."""
        above = bases(self._world, Thing("class", path=self._path, node=node))
        if not above:
            return
        for method in node.body:
            if isinstance(method, Function) and method.lineno in self._lines:
                self._check_override(node, method, above)
        if node.lineno not in self._lines or _is_abstract(node):
            return
        defined: set[str] = set(members(node))
        for cls in above:
            assert isinstance(cls.node, ast.ClassDef)
            for entry in cls.node.body:
                if isinstance(entry, Function) and entry.name not in defined:
                    marks = {ast.unparse(mark) for mark in entry.decorator_list}
                    if marks & {"abstractmethod", "abc.abstractmethod"}:
                        wrong = f"{cls.node.name} now asks for a method {entry.name}"
                        self.found.append(
                            Use("abstract", f"{node.name}.{entry.name}", node.lineno, wrong)
                        )
            defined |= set(members(cls.node))

    def _check_override(self, node: ast.ClassDef, method: Function, above: list[Thing]) -> None:
        if method.name.startswith("__"):
            return
        name = f"{node.name}.{method.name}"
        for cls in above:
            assert isinstance(cls.node, ast.ClassDef)
            for binding, _ in members(cls.node).get(method.name, []):
                if not isinstance(binding, Function):
                    continue
                fault = override_misfit(of_function(method, False), of_function(binding, False))
                wrong = f"{cls.node.name}.{method.name} {fault}" if fault else ""
                self.found.append(Use("override", name, method.lineno, wrong))
                return
        names = ", ".join(str(getattr(cls.node, "name", "")) for cls in above[:3])
        wrong = f"no base ({names}) has a method {method.name}"
        self.found.append(Use("override", name, method.lineno, wrong))

    def _scope(self) -> Scope:
        return Scope(self._path, self._functions, self._inside)


def _certain(things: Things) -> bool:
    """Whether an attribute of these is there even where nothing more is known of it."""
    return all(thing.kind in ("module", "class", "instance", "super") for thing in things)


def _is_abstract(node: ast.ClassDef) -> bool:
    return any(
        isinstance(entry, Function)
        and any("abstractmethod" in ast.unparse(mark) for mark in entry.decorator_list)
        for entry in node.body
    )


def _described(things: Things) -> str:
    thing = things[0]
    if thing.kind == "module":
        return thing.name
    return f"class {thing.node.name}" if thing.node else thing.kind
