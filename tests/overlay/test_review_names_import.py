# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A patch that applies cleanly, but imports what is gone from the new version, says so."""

from __future__ import annotations

import pytest
from reviewing import Python
from small_project import Content, Project

OLD = {
    "pkg/__init__.py": "",
    "pkg/util.py": "from pkg.deep import inner\n\n\ndef helper():\n    return inner\n",
    "pkg/deep.py": "inner = 1\n",
}
CASES: list[tuple[str, dict[str, Content], list[str]]] = [
    (
        "from pkg.util import helper\n",
        {"pkg/util.py": "def other():\n    pass\n"},
        ["1: pkg.util.helper: pkg.util has no helper"],
    ),
    (
        "import os\nfrom .util import helper\n",
        {"pkg/util.py": None, "pkg/moved.py": OLD["pkg/util.py"]},
        ["2: pkg.util.helper: there is no module pkg.util"],
    ),
    (
        "def f():\n    import pkg.deep as deep\n    return deep\n",
        {"pkg/deep.py": None, "pkg/util.py": "def helper():\n    return 1\n"},
        ["2: pkg.deep: there is no such module"],
    ),
    (
        "from pkg.util import (\n    helper,\n    inner,\n)\n",
        {"pkg/util.py": "def helper():\n    return 1\n"},
        ["3: pkg.util.inner: pkg.util has no inner"],
    ),
    ("from pkg import util\n", {"pkg/util.py": None}, ["1: pkg.util: pkg has no util"]),
]


@pytest.mark.parametrize(("lines", "new", "said"), CASES)
def test_gone(project: Project, lines: str, new: dict[str, Content], said: list[str]) -> None:
    assert Python(project, OLD, lines).said(new) == said


QUIET: list[tuple[str, dict[str, Content]]] = [
    # Taken in from elsewhere now, defined in a branch, made when asked, or taken in as a whole.
    ("from pkg.util import helper\n", {"pkg/util.py": "from pkg.deep import inner as helper\n"}),
    (
        "from pkg.util import helper\n",
        {"pkg/util.py": "try:\n    helper = 1\nfinally:\n    pass\n"},
    ),
    (
        "from pkg.util import helper\n",
        {"pkg/util.py": "LAZY = {'helper': 1}\n\n\ndef __getattr__(n):\n    return LAZY[n]\n"},
    ),
    (
        "from pkg.util import helper\n",
        {"pkg/util.py": "from pkg.deep import *\n", "pkg/deep.py": "helper = inner = 1\n"},
    ),
    ("from pkg.util import helper\n", {"pkg/util.py": None, "pkg/util/__init__.py": "helper = 1"}),
    # The old version has no such name either: how it comes about the source does not tell.
    ("from pkg.util import made_elsewhere\n", {"pkg/util.py": "x = 1\n"}),
    ("import torch\nfrom torch.nn import Gone\n", {"pkg/util.py": "x = 1\n"}),
]


@pytest.mark.parametrize(("lines", "new"), QUIET)
def test_quiet(project: Project, lines: str, new: dict[str, Content]) -> None:
    assert Python(project, OLD, lines).said(new) == []
