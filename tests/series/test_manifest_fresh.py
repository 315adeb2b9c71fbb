# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""PATCHES.md is what the headers say."""

import subprocess

from overlay.paths import HERE


def test_patches_md_is_current() -> None:
    check = subprocess.run(
        ["./apply_patches.py", "manifest", "--check"], cwd=HERE.root, capture_output=True, text=True
    )
    assert check.returncode == 0, check.stdout + check.stderr
