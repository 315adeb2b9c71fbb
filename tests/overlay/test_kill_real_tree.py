# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The project's own series on the whole source: killed in apply, then put right."""

import shutil
from pathlib import Path

import pytest
from killing import kills

from overlay.git import Git
from overlay.paths import HERE, Workspace
from overlay.pin import load_pin
from overlay.tree import apply, unapply

pytestmark = pytest.mark.slow


def test_next_apply_repairs(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    shutil.copytree(HERE.patches, workspace.patches)
    pin = load_pin()
    git = Git(workspace.tree)
    wanted = apply(pin, workspace)
    pristine = git.text("rev-parse", f"{wanted.base}^{{tree}}")

    def work() -> None:
        apply(pin, workspace)

    def reset() -> None:
        unapply(pin, workspace)
        assert git.text("rev-parse", "HEAD^{tree}") == pristine

    reset()
    for moment in kills("apply of the whole series", work, reset, 8, 8):
        assert git.resolve("HEAD") in (wanted.base, wanted.head), moment
        assert apply(pin, workspace) == wanted, moment
        assert git.text("status", "--porcelain", "--ignored") == "", moment
