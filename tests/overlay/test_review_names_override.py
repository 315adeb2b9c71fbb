# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A method that overrides a gone or changed one, and an abstract one left open, are named."""

from __future__ import annotations

import pytest
from reviewing import Python
from small_project import Project

MOD = """\
from abc import ABC, abstractmethod


class Method(ABC):
    @abstractmethod
    def create(self, layer, size):
        raise NotImplementedError

    def apply(self, layer, x, bias=None):
        return x
"""
OLD = {"pkg/__init__.py": "", "pkg/mod.py": MOD}
LINES = """\
from pkg.mod import Method


class Mine(Method):
    def create(self, layer, size):
        return size

    def apply(self, layer, x, bias=None):
        return x
"""
CASES = [
    (
        "layer, size",
        "layer, size, dtype",
        "5: Mine.create: Method.create now has the parameter 'dtype'",
    ),
    (
        "layer, size",
        "layer",
        "5: Mine.create: Method.create no longer has the parameter 'size'",
    ),
    ("def apply", "def forward", "8: Mine.apply: no base (Method) has a method apply"),
    (
        "    def apply",
        "    @abstractmethod\n    def finish(self):\n        pass\n\n    def apply",
        "4: Mine.finish: Method now asks for a method finish",
    ),
]


@pytest.mark.parametrize(("old", "new", "said"), CASES, ids=[case[2] for case in CASES])
def test_changed(project: Project, old: str, new: str, said: str) -> None:
    assert old in MOD
    assert Python(project, OLD, LINES).said({"pkg/mod.py": MOD.replace(old, new)}) == [said]


def test_quiet_where_the_override_takes_everything(project: Project) -> None:
    lines = LINES.replace("layer, size):", "layer, *args, **kwargs):").replace("size\n", "args\n")
    new = MOD.replace("layer, size", "layer, size, dtype")
    assert Python(project, OLD, lines).said({"pkg/mod.py": new}) == []


def test_quiet_where_a_base_is_of_another_package(project: Project) -> None:
    lines = "from torch.nn import Module\n\n\nclass Mine(Module):\n    def forward(self, x):\n"
    lines += "        return x\n"
    assert Python(project, OLD, lines).said({"pkg/mod.py": "x = 1\n"}) == []
