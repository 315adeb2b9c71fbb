# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Headers that are gone, and operators that no C++ source registers any more, are named."""

from __future__ import annotations

from reviewing import verdict
from small_project import Project

OLD = {
    "csrc/core/math.h": "#pragma once\n",
    "csrc/near.h": "#pragma once\n",
    "csrc/bindings.cpp": 'ops.def("some_op(Tensor x) -> Tensor");\n',
    "pkg/__init__.py": "",
}
SOURCE = '#include <vector>\n#include "core/math.h"\n#include "../near.h"\n#include "torch/all.h"\n'


def prepared(project: Project) -> None:
    """Pin the sources, and add a patch that uses them."""
    project.commit_model(OLD, "sources")
    project.rebase_pin({**project.base, **OLD})
    call = "import torch\n\ny = torch.ops._C.some_op(1)\nz = torch.ops._C.made_elsewhere(1)\n"
    project.add_patch("first", {"csrc/new/kernel.cu": SOURCE, "pkg/call.py": call})


def test_quiet_when_all_is_there(project: Project) -> None:
    prepared(project)
    assert verdict(project, project.base).missing == ()


def test_gone(project: Project) -> None:
    prepared(project)
    new = {
        **project.base,
        "csrc/core/math.h": None,
        "csrc/near.h": None,
        "csrc/bindings.cpp": "x\n",
    }
    found = verdict(project, new)
    assert found.outcome.value == "clean"
    assert [f"{entry.path}:{entry.line}: {entry.name}" for entry in found.missing] == [
        "csrc/new/kernel.cu:2: core/math.h",
        "csrc/new/kernel.cu:3: ../near.h",
        "pkg/call.py:3: torch.ops._C.some_op",
    ]
