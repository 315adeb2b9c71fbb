# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Each patch's tests fail when the patch is left out; with it they pass (tests/patches)."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from overlay.patchfile import Patch, read_all
from overlay.paths import HERE

PASSED, FAILED, INTERRUPTED = 0, 1, 2  # pytest's exit codes


@pytest.mark.slow
@pytest.mark.parametrize("patch", read_all(HERE.patches), ids=lambda patch: patch.topic)
def test_tests_need_the_patch(
    patch: Patch, tryout_python: Path, package_without: Callable[[str], Path]
) -> None:
    nodes = patch.header.entries("Test")
    run = subprocess.run(
        [tryout_python, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *nodes],
        cwd=HERE.root,
        env=os.environ
        | {"VLLM_TARGET_DEVICE": "cpu", "CUDA_VISIBLE_DEVICES": ""}
        | {"PYTHONPATH": str(package_without(patch.topic))},
        capture_output=True,
        text=True,
    )

    if run.returncode == PASSED and " passed" not in run.stdout:
        pytest.skip("all of its tests need a GPU")
    assert run.returncode in (FAILED, INTERRUPTED), run.stdout + run.stderr
