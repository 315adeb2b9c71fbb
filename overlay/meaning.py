# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What names and expressions of a source tree stand for, as far as the source alone tells.

An answer is a list of things, empty when there certainly is no such name; `UNKNOWN` is among them
where only running the program could tell.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from overlay.modules import Binding, Import, Value, World, absolute, bindings, flat, module_name
from overlay.signatures import Function, Signature, of_dataclass, of_function

_DEPTH = 12  # steps from one name to the next before an answer is given up
_WAYS = 4  # places that give a name its meaning before they are too many to follow
_DATACLASS = ("dataclass", "config")  # `config` is vLLM's own decorator for its dataclasses


@dataclass(frozen=True)
class Thing:
    """A module (`name`), or a function, class, instance or `super()` of the node in file `path`.

    A method that was looked up in an instance is `bound`.
    """

    kind: str
    name: str = ""
    path: str = ""
    node: Function | ast.ClassDef | None = None
    bound: bool = False


UNKNOWN = Thing("unknown")
Things = Sequence[Thing]


@dataclass(frozen=True)
class Scope:
    """Where an expression stands: its file, the functions around it, and the class around those."""

    path: str
    functions: tuple[Function, ...] = ()
    inside: ast.ClassDef | None = None


def of_expression(world: World, scope: Scope, node: ast.expr, depth: int = _DEPTH) -> Things:
    """What an expression stands for."""
    if depth <= 0:
        return [UNKNOWN]
    if isinstance(node, ast.Name):
        return _of_name(world, scope, node.id, depth)
    if isinstance(node, ast.Attribute):
        things = of_expression(world, scope, node.value, depth - 1)
        return attribute(world, things, node.attr, depth - 1)
    if isinstance(node, ast.Call):
        return _of_call(world, scope, node, depth)
    if isinstance(node, ast.Await):
        return of_expression(world, scope, node.value, depth - 1)
    return [UNKNOWN]


def attribute(world: World, things: Things, name: str, depth: int = _DEPTH) -> Things:
    """What the attribute `name` of any of these things stands for."""
    result: list[Thing] = []
    for thing in things:
        if thing.kind == "module":
            result += in_module(world, thing.name, name, depth - 1)
        elif thing.kind in ("class", "instance", "super"):
            result += member(world, thing, name, depth - 1)
        else:
            return [UNKNOWN]
    return result


def in_module(world: World, module: str, name: str, depth: int = _DEPTH) -> Things:
    """What a name of a module stands for, its submodules included."""
    if depth <= 0 or not world.ours(module):
        return [UNKNOWN]
    found = world.module(module)
    path = world.path_of(module)
    if found is not None and path is not None:
        if name in found.names:
            scope = Scope(path)
            return _of_bindings(world, scope, found.names[name], depth - 1)
        for star in found.stars:
            things = in_module(world, absolute(star, path), name, depth - 1)
            if things:
                return things
        if "__getattr__" in found.names and name in _texts(found.tree):
            return [UNKNOWN]  # names that a module makes when asked stand in it as strings
    elif path is not None:
        return [UNKNOWN]  # a file that is not Python, or of a Python newer than this one
    if world.holds(f"{module}.{name}"):
        return [Thing("module", f"{module}.{name}")]
    return []


def member(world: World, thing: Thing, name: str, depth: int = _DEPTH) -> Things:
    """What a member of a class, of an instance of it, or of `super()` there stands for."""
    if depth <= 0 or not isinstance(thing.node, ast.ClassDef):
        return [UNKNOWN]
    for cls in _ancestry(world, thing, thing.kind == "super", depth - 1):
        assert isinstance(cls.node, ast.ClassDef)
        found = members(cls.node).get(name)
        if found is None:
            continue
        if len(found) > _WAYS:
            return [UNKNOWN]
        result: list[Thing] = []
        for binding, around in found:
            if isinstance(binding, Function):
                result += _of_method(world, binding, cls, thing.kind, depth - 1)
            else:
                scope = Scope(cls.path, (around,) if around else (), cls.node)
                result += _of_binding(world, scope, binding, depth - 1) or [UNKNOWN]
        return result
    return [UNKNOWN] if _open(world, thing) else []


def bases(world: World, thing: Thing) -> list[Thing]:
    """The classes a class is derived from, nearest first, that stand in this tree."""
    return _ancestry(world, thing, True)


@cache
def members(node: ast.ClassDef) -> dict[str, list[tuple[Binding, Function | None]]]:
    """What a class's body and its methods (`self.x = ...`) define, and in which method."""
    result: dict[str, list[tuple[Binding, Function | None]]] = {}
    for name, found in bindings(node.body).items():
        result[name] = [(binding, None) for binding in found]
    for method in flat(node.body):
        if not isinstance(method, Function) or not method.args.args:
            continue
        me = method.args.args[0].arg
        for name, value in _assigned(method, me):
            result.setdefault(name, []).append((value, method))
    return result


def signature(world: World, thing: Thing) -> Signature | None:
    """The signature to call a thing with; None where the source does not tell."""
    if thing.kind == "function" and isinstance(thing.node, Function):
        marks = {_last(decorator) for decorator in thing.node.decorator_list}
        if marks & {"property", "cached_property", "setter"}:
            return None
        return of_function(thing.node, thing.bound)
    if thing.kind != "class" or not isinstance(thing.node, ast.ClassDef):
        return None
    for cls in _ancestry(world, thing, False):
        assert isinstance(cls.node, ast.ClassDef)
        if _is_dataclass(cls.node):
            return of_dataclass(_fields(world, cls))
        for binding, _ in members(cls.node).get("__init__", []):
            if isinstance(binding, Function):
                return of_function(binding, True)
        if members(cls.node).get("__new__"):
            return None
    return None


def _of_name(world: World, scope: Scope, name: str, depth: int) -> Things:
    for index in range(len(scope.functions) - 1, -1, -1):
        function = scope.functions[index]
        inner = Scope(scope.path, scope.functions[: index + 1], scope.inside)
        if (argument := _arguments(function).get(name)) is not None:
            me = next(iter(_arguments(function)))
            if index == 0 and name == me and scope.inside and function in scope.inside.body:
                marks = {_last(decorator) for decorator in function.decorator_list}
                if "staticmethod" not in marks:
                    kind = "class" if "classmethod" in marks else "instance"
                    return [Thing(kind, path=scope.path, node=scope.inside)]
            return _of_annotation(world, inner, argument.annotation, depth - 1)
        if (found := _locals(function).get(name)) is not None:
            return _of_bindings(world, inner, found, depth - 1)
    module = world.file(scope.path)
    if name == "super" and scope.inside is not None:
        return [Thing("super", path=scope.path, node=scope.inside)]
    if module is None or name not in module.names:
        return [UNKNOWN]  # a builtin, or undefined: pyflakes tells which
    return in_module(world, module_name(scope.path), name, depth - 1)


def _of_bindings(world: World, scope: Scope, found: Sequence[Binding], depth: int) -> Things:
    if len(found) > _WAYS:
        return [UNKNOWN]
    return [thing for entry in found for thing in _of_binding(world, scope, entry, depth)]


def _of_binding(world: World, scope: Scope, binding: Binding, depth: int) -> Things:
    if depth <= 0:
        return [UNKNOWN]
    if isinstance(binding, Import):
        module = absolute(binding, scope.path)
        if not world.ours(module):
            return [UNKNOWN]
        if binding.name is None:
            return [Thing("module", module)] if world.holds(module) else []
        return in_module(world, module, binding.name, depth - 1)
    if isinstance(binding, ast.ClassDef):
        return [Thing("class", path=scope.path, node=binding)]
    if isinstance(binding, Function):
        return [Thing("function", path=scope.path, node=binding)]
    if binding.annotation is not None:
        return _of_annotation(world, scope, binding.annotation, depth - 1)
    if binding.value is None:
        return [UNKNOWN]
    # A name that is bound to something unknown is there all the same.
    return of_expression(world, scope, binding.value, depth - 1) or [UNKNOWN]


def _of_call(world: World, scope: Scope, node: ast.Call, depth: int) -> Things:
    result: list[Thing] = []
    for thing in of_expression(world, scope, node.func, depth - 1):
        if thing.kind == "super":
            result.append(thing)
        elif thing.kind == "class":
            result.append(Thing("instance", path=thing.path, node=thing.node))
        elif thing.kind == "function" and isinstance(thing.node, ast.FunctionDef):
            inner = Scope(thing.path)
            result += _of_annotation(world, inner, thing.node.returns, depth - 1)
        else:
            result.append(UNKNOWN)
    return result or [UNKNOWN]


def _of_method(world: World, node: Function, cls: Thing, kind: str, depth: int) -> Things:
    assert isinstance(cls.node, ast.ClassDef)
    marks = {_last(decorator) for decorator in node.decorator_list}
    if marks & {"property", "cached_property"} and kind != "class":
        return _of_annotation(world, Scope(cls.path, (), cls.node), node.returns, depth)
    bound = "classmethod" in marks or (kind != "class" and "staticmethod" not in marks)
    return [Thing("function", path=cls.path, node=node, bound=bound)]


def _open(world: World, thing: Thing) -> bool:
    """Whether a class may have members that do not show: made when asked, or of a base that is
    gone (which is told where the base is imported).
    """
    for cls in _ancestry(world, thing, False):
        assert isinstance(cls.node, ast.ClassDef)
        if not {"__getattr__", "__getattribute__"}.isdisjoint(members(cls.node)):
            return True
        if not all(of_expression(world, Scope(cls.path), _plain(b)) for b in cls.node.bases):
            return True
    return False


def _of_annotation(world: World, scope: Scope, annotation: ast.expr | None, depth: int) -> Things:
    """An instance of the class that an annotation names; `X | None` and `"X"` are seen through."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return [UNKNOWN]
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        sides = [annotation.left, annotation.right]
        plain = [side for side in sides if not _is_none(side)]
        annotation = plain[0] if len(plain) == 1 else None
    if isinstance(annotation, ast.Subscript) and _last(annotation.value) == "Optional":
        return _of_annotation(world, scope, annotation.slice, depth)
    if not isinstance(annotation, ast.Name | ast.Attribute):
        return [UNKNOWN]
    outside = Scope(scope.path)  # parameters are not in the way of the names of classes
    things = of_expression(world, outside, annotation, depth)
    if not things or any(thing.kind != "class" for thing in things):
        return [UNKNOWN]
    return [Thing("instance", path=thing.path, node=thing.node) for thing in things]


def _ancestry(world: World, thing: Thing, skip: bool, depth: int = _DEPTH) -> list[Thing]:
    """A class (unless `skip`) and its bases in this tree, depth first, each once."""
    result: list[Thing] = []
    seen: set[ast.ClassDef] = set()

    def visit(cls: Thing) -> None:
        if not isinstance(cls.node, ast.ClassDef) or cls.node in seen:
            return
        seen.add(cls.node)
        result.append(cls)
        for base in cls.node.bases:
            for found in of_expression(world, Scope(cls.path), _plain(base), depth - 1):
                if found.kind == "class":
                    visit(found)

    visit(Thing("class", path=thing.path, node=thing.node))
    return result[1:] if skip else result


def _plain(base: ast.expr) -> ast.expr:
    """A base class without its type parameters."""
    return base.value if isinstance(base, ast.Subscript) else base


def _fields(world: World, thing: Thing) -> dict[str, bool]:
    """A dataclass's constructor parameters, those of its bases first."""
    result: dict[str, bool] = {}
    for cls in reversed(_ancestry(world, thing, False)):
        assert isinstance(cls.node, ast.ClassDef)
        if not _is_dataclass(cls.node):
            continue
        for entry in cls.node.body:
            if not isinstance(entry, ast.AnnAssign) or not isinstance(entry.target, ast.Name):
                continue
            if "ClassVar" in ast.dump(entry.annotation) or _no_init(entry.value):
                continue
            result[entry.target.id] = not _has_default(entry.value)
    return result


def _no_init(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Call) and any(
        keyword.arg == "init"
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value is False
        for keyword in value.keywords
    )


def _has_default(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Call) and _last(value.func) in ("field", "Field"):
        names = {keyword.arg for keyword in value.keywords}
        return bool(names & {"default", "default_factory"}) or bool(value.args)
    return value is not None


def _is_dataclass(node: ast.ClassDef) -> bool:
    return any(_last(decorator) in _DATACLASS for decorator in node.decorator_list)


def _last(node: ast.expr) -> str:
    """The last name of a decorator or a dotted name, called or not."""
    if isinstance(node, ast.Call):
        node = node.func
    return getattr(node, "attr", getattr(node, "id", ""))


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _assigned(method: Function, me: str) -> Iterator[tuple[str, Value]]:
    """What a method puts into its own object: names, and the values where they are plain."""
    for node in ast.walk(method):
        targets: list[ast.expr] = []
        value = Value(None, None)
        if isinstance(node, ast.Assign):
            targets = node.targets
            value = Value(None, node.value)
        elif isinstance(node, ast.AnnAssign):
            targets = [node.target]
            value = Value(node.annotation, node.value)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            targets = [node]  # in a tuple, a loop or a `with`
        for target in targets:
            if (
                isinstance(target, ast.Attribute)
                and isinstance(target.value, ast.Name)
                and target.value.id == me
            ):
                yield target.attr, value


@cache
def _texts(tree: ast.Module) -> frozenset[str]:
    """Every string in a module."""
    return frozenset(
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


@cache
def _arguments(function: Function) -> dict[str, ast.arg]:
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    plain = {entry.arg: entry for entry in every}
    for entry in (arguments.vararg, arguments.kwarg):
        if entry:  # a tuple or a dict of what the annotation says
            plain[entry.arg] = ast.arg(entry.arg)
    return plain


@cache
def _locals(function: Function) -> dict[str, list[Binding]]:
    """What a function binds, its comprehensions and lambdas included; `global` names are not."""
    result = bindings(function.body)
    for node in flat(function.body):
        if isinstance(node, ast.Global):
            for name in node.names:
                result.pop(name, None)
    return result
