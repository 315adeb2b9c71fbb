# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Attributes of modules, classes, objects and enumerations that the new version lacks are named."""

from __future__ import annotations

import pytest
from reviewing import Python
from small_project import Project

MOD = """\
import enum


class Kind(enum.Enum):
    FAST = 1
    SLOW = 2


class Config:
    size: int = 1

    def __init__(self, width: int):
        self.width = width

    def area(self) -> int:
        return self.width


class Base:
    config: Config

    def __init__(self):
        self.state = Config(1)

    def make(self) -> Config:
        return self.state


def build() -> "Config | None":
    return None


limit = 3
"""
OLD = {"pkg/__init__.py": "", "pkg/mod.py": MOD}
HEAD = "import pkg.mod\nfrom pkg import mod as m\nfrom pkg.mod import Base, Config, Kind\n"
CASES = [
    ("x = m.limit\n", "limit = 3\n", "", "4: m.limit: pkg.mod has no limit"),
    ("x = pkg.mod.limit\n", "limit = 3\n", "", "4: pkg.mod.limit: pkg.mod has no limit"),
    ("x = Kind.SLOW\n", "    SLOW = 2\n", "", "4: Kind.SLOW: class Kind has no SLOW"),
    (
        "def f(c: Config):\n    return c.size\n",
        "    size: int = 1\n",
        "",
        "5: c.size: class Config has no size",
    ),
    (
        "def f(c: 'Config | None'):\n    d = c\n    return d.width\n",
        "self.width",
        "self._width",
        "6: d.width: class Config has no width",
    ),
    (
        "class New(Base):\n    def g(self):\n        return self.state\n",
        "self.state",
        "self.other",
        "6: self.state: class New has no state",
    ),
    (
        "class New(Base):\n    def g(self):\n        return self.config.area()\n",
        "def area",
        "def surface",
        "6: self.config.area: class Config has no area",
    ),
    (
        "x = Base().make().area\n",
        "def area",
        "def surface",
        "4: Base().make().area: class Config has no area",
    ),
    ("x = m.build().area\n", "def area", "def _", "4: m.build().area: class Config has no area"),
]


@pytest.mark.parametrize(("lines", "old", "new", "said"), CASES, ids=[case[3] for case in CASES])
def test_gone(project: Project, lines: str, old: str, new: str, said: str) -> None:
    assert old in MOD
    package = Python(project, OLD, HEAD + lines)
    assert package.said({"pkg/mod.py": MOD.replace(old, new)}) == [said]


QUIET = [
    # The name is one of the function's own, not the module's.
    ("def f(m):\n    return m.limit\n", "limit = 3\n", ""),
    ("x = [m.limit for m in ()]\n", "limit = 3\n", ""),
    ("f = lambda m: m.limit\n", "limit = 3\n", ""),
    ("def f():\n    m = object()\n    return m.limit\n", "limit = 3\n", ""),
    # Nothing says what it is.
    ("def f(c):\n    return c.size\n", "    size: int = 1\n", ""),
    # It has come to be a base's, a property, or is made when asked.
    (
        "def f(c: Config):\n    return c.size\n",
        "class Config:\n    size: int = 1\n",
        "class Sized:\n    size: int = 1\n\n\nclass Config(Sized):\n",
    ),
    (
        "def f(c: Config):\n    return c.width\n",
        "        self.width = width\n",
        "        self._w = width\n\n    @property\n    def width(self):\n        return self._w\n",
    ),
    (
        "def f(c: Config):\n    return c.size\n",
        "    size: int = 1\n",
        "    def __getattr__(self, name):\n        return name\n",
    ),
]


@pytest.mark.parametrize(("lines", "old", "new"), QUIET)
def test_quiet(project: Project, lines: str, old: str, new: str) -> None:
    assert old in MOD
    package = Python(project, OLD, HEAD + lines)
    assert package.said({"pkg/mod.py": MOD.replace(old, new)}) == []
