# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The Python modules of a source tree, parsed when asked for; nothing of them is imported."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from overlay.git import Git
from overlay.match import File, blob_id
from overlay.signatures import Function


@dataclass(frozen=True)
class Import:
    """What an import statement binds: a module, or `name` of a module; `level` counts the dots."""

    module: str
    level: int
    name: str | None


@dataclass(frozen=True)
class Value:
    """A name that is assigned: its annotation and the value, where they stand in the source."""

    annotation: ast.expr | None
    value: ast.expr | None


Binding = Import | Value | Function | ast.ClassDef


@dataclass(frozen=True)
class Module:
    """A parsed file: what its top level binds, and the modules it takes everything from."""

    tree: ast.Module
    names: Mapping[str, Sequence[Binding]]
    stars: tuple[Import, ...]


@dataclass
class World:
    """The files of a commit with patches laid over them, and the modules they hold.

    Worlds that share `parsed` parse a file that is the same in both once.
    """

    git: Git
    commit: str
    blobs: dict[str, str]
    parsed: dict[str, Module | None]
    laid: dict[str, bytes | None] = field(default_factory=dict)
    _folders: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, git: Git, commit: str, parsed: dict[str, Module | None]) -> World:
        """The world of a commit."""
        blobs = {path: blob for path, (_, blob) in git.files(commit).items()}
        world = cls(git, commit, blobs, parsed)
        for path in blobs:
            world._add_folders(path)
        return world

    def lay(self, changes: Mapping[str, File | None]) -> None:
        """Put changed files over the commit's; None takes one away."""
        for path, file in changes.items():
            self.laid[path] = None if file is None else file.data
            if file is not None:
                self._add_folders(path)

    def read(self, path: str) -> bytes | None:
        """A file's bytes, or None when there is no such file."""
        if path in self.laid:
            return self.laid[path]
        blob = self.blobs.get(path)
        return None if blob is None else self.git.run("cat-file", "blob", blob)

    def exists(self, path: str) -> bool:
        """Whether there is such a file."""
        return self.laid[path] is not None if path in self.laid else path in self.blobs

    def path_of(self, module: str) -> str | None:
        """The file of a module, or None."""
        base = module.replace(".", "/")
        return next((p for p in (f"{base}.py", f"{base}/__init__.py") if self.exists(p)), None)

    def holds(self, module: str) -> bool:
        """Whether there is a module, or a folder that is a package without a file of its own."""
        return self.path_of(module) is not None or module.replace(".", "/") in self._folders

    def ours(self, module: str) -> bool:
        """Whether a module would lie in this source tree, not in another package."""
        return self.holds(module.partition(".")[0])

    def module(self, name: str) -> Module | None:
        """A module by its dotted name; None when there is none, or it is not Python."""
        path = self.path_of(name)
        return None if path is None else self.file(path)

    def file(self, path: str) -> Module | None:
        """A file as a module; None when there is no such file, or it is not Python."""
        blob = None if path in self.laid else self.blobs.get(path)
        if blob is not None and blob in self.parsed:
            return self.parsed[blob]
        data = self.read(path)
        if data is None:
            return None
        blob = blob_id(data)
        if blob not in self.parsed:
            self.parsed[blob] = _parse(data)
        return self.parsed[blob]

    def _add_folders(self, path: str) -> None:
        folder = path.rpartition("/")[0]
        if path.endswith(".py"):
            while folder and folder not in self._folders:
                self._folders.add(folder)
                folder = folder.rpartition("/")[0]


def module_name(path: str) -> str:
    """The dotted name of a file."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def absolute(target: Import, path: str) -> str:
    """The dotted name of an import's module, for an import that stands in the file `path`."""
    if not target.level:
        return target.module
    parts = path.split("/")[: -target.level]
    return ".".join([*parts, target.module] if target.module else parts)


def bindings(body: Iterable[ast.stmt]) -> dict[str, list[Binding]]:
    """What statements bind in their own scope, in order; a name may be bound more than once."""
    result: dict[str, list[Binding]] = {}
    for statement in flat(body):
        for name, binding in _binds(statement):
            result.setdefault(name, []).append(binding)
    return result


def flat(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements and those inside their branches and loops, not inside functions or classes."""
    for statement in body:
        yield statement
        if isinstance(statement, Function | ast.ClassDef):
            continue
        for part in ("body", "orelse", "finalbody"):
            yield from flat(getattr(statement, part, []))
        for part in (*getattr(statement, "handlers", []), *getattr(statement, "cases", [])):
            yield from flat(part.body)


def _parse(data: bytes) -> Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the source's escapes: not ours to mend
            tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return None
    stars = tuple(
        Import(node.module or "", node.level, None)
        for node in flat(tree.body)
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
    )
    return Module(tree, bindings(tree.body), stars)


def _binds(statement: ast.stmt) -> Iterator[tuple[str, Binding]]:
    if isinstance(statement, Function | ast.ClassDef):
        yield statement.name, statement
    elif isinstance(statement, ast.Import):
        for alias in statement.names:
            top = alias.name.partition(".")[0]
            yield alias.asname or top, Import(alias.name if alias.asname else top, 0, None)
    elif isinstance(statement, ast.ImportFrom):
        for alias in statement.names:
            yield (
                alias.asname or alias.name,
                Import(statement.module or "", statement.level, alias.name),
            )
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        yield statement.target.id, Value(statement.annotation, statement.value)
        yield from ((name, Value(None, None)) for name in _inner(statement.value))
    elif (
        isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and isinstance(statement.targets[0], ast.Name)
    ):
        yield statement.targets[0].id, Value(None, statement.value)
        yield from ((name, Value(None, None)) for name in _inner(statement.value))
    else:
        for name in _stored(statement):
            yield name, Value(None, None)


def _stored(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement binds in another way: loops, `with`, `except`, tuples, walrus."""
    inner = ("body", "orelse", "finalbody", "handlers", "cases")
    for name, part in ast.iter_fields(statement):
        if name == "handlers":
            yield from (handler.name for handler in part if handler.name)
        if name == "cases":
            for case in part:
                for node in ast.walk(case.pattern):
                    bound = getattr(node, "name", None) or getattr(node, "rest", None)
                    if isinstance(bound, str):
                        yield bound
        if name in inner:
            continue
        for child in part if isinstance(part, list) else [part]:
            if isinstance(child, ast.AST):
                yield from _inner(child)


def _inner(part: ast.AST | None) -> Iterator[str]:
    """Names that comprehensions, lambdas and other parts of an expression bind."""
    for node in ast.walk(part) if part else ():
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
