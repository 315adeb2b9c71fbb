# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Calls that fit the old version's signatures and not the new one's are named."""

from __future__ import annotations

import pytest
from reviewing import Python
from small_project import Project

MOD = """\
from dataclasses import dataclass, field


def run(a, b=1, *, fast=False):
    return a


@dataclass
class Base:
    size: int


@dataclass
class Config(Base):
    name: str = ""
    tags: list = field(default_factory=list)


class Layer:
    def __init__(self, width, bias=True):
        self.width = width

    def apply(self, x, scale):
        return x

    @staticmethod
    def pack(x, bits):
        return x

    @classmethod
    def load(cls, path):
        return cls(path)
"""
OLD = {"pkg/__init__.py": "", "pkg/mod.py": MOD}
HEAD = "from pkg import mod\nfrom pkg.mod import Config, Layer, run\n"
CASES = [
    ("run(1, fast=True)\n", "*, fast=False", "*, slow=False", "run(_, fast): has no parameter"),
    ("run(1, 2)\n", "b=1, *, fast", "*, b=1, fast", "run(_, _): takes 1 positional argument, 2"),
    ("run(1)\n", "b=1", "b", "run(_): needs 'b'"),
    ("run(1)\n", "fast=False", "fast", "run(_): needs 'fast'"),
    ("run(\n    1,\n    fast=True,\n)\n", "fast", "slow", "run(_, fast): has no parameter 'fast'"),
    ("mod.run(1, b=2)\n", "b=1", "c=1", "mod.run(_, b): has no parameter 'b'"),
    ("Config(1, tags=[])\n", "tags:", "marks:", "Config(_, tags): has no parameter 'tags'"),
    ("Config(size=1)\n", "    size: int\n", "    size: int\n    more: int\n", "needs 'more'"),
    ("Layer(1, bias=False)\n", "bias", "offset", "Layer(_, bias): has no parameter 'bias'"),
    ("Layer(1).apply(1, 2)\n", "x, scale", "x", "Layer(1).apply(_, _): takes 1 positional"),
    ("Layer.pack(1, 2)\n", "x, bits", "x", "Layer.pack(_, _): takes 1 positional argument"),
    ("Layer.load(1)\n", "cls, path", "cls, path, kind", "Layer.load(_): needs 'kind'"),
    (
        "class New(Layer):\n    def __init__(self):\n        super().__init__(1, bias=True)\n",
        "bias",
        "offset",
        "super().__init__(_, bias): has no parameter 'bias'",
    ),
    (
        "class New(Layer):\n    def f(self):\n        return self.apply(1, scale=2)\n",
        "scale",
        "factor",
        "self.apply(_, scale): has no parameter 'scale'",
    ),
]


@pytest.mark.parametrize(("lines", "old", "new", "said"), CASES, ids=[case[3] for case in CASES])
def test_no_fit(project: Project, lines: str, old: str, new: str, said: str) -> None:
    assert old in MOD
    (found,) = Python(project, OLD, HEAD + lines).said({"pkg/mod.py": MOD.replace(old, new)})
    assert said in found


QUIET = [
    ("run(1)\n", "b=1", "b=2"),
    ("run(*x)\n", "a, b=1", "a, b"),
    ("run(**x)\n", "a, b=1", "a, b"),
    ("run(1, fast=True)\n", "*, fast=False", "**options"),
    ("run(1, 2)\n", "b=1, *, fast=False", "*rest"),
    ("run(1)\n", "def run(a, b=1", "def run(a, /, b=1"),
    ("run(1, unknown=2)\n", "fast", "slow"),  # the old version refuses it as well
    ("Config(1)\n", "    tags: list = field(default_factory=list)\n", ""),
    ("Layer(1)\n", "self, width, bias=True", "self, width"),
    ("def f(run):\n    run(1, fast=True)\n", "fast", "slow"),
]


@pytest.mark.parametrize(("lines", "old", "new"), QUIET)
def test_quiet(project: Project, lines: str, old: str, new: str) -> None:
    assert old in MOD
    assert Python(project, OLD, HEAD + lines).said({"pkg/mod.py": MOD.replace(old, new)}) == []
