# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Each patch's tests fail when the patch is left out, and pass when it is there."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from overlay.patchfile import Patch, read_all
from overlay.paths import HERE

PASSED, FAILED, INTERRUPTED = 0, 1, 2  # pytest's exit codes


def run_tests(
    python: Path, patch: Patch, packages: Path | None
) -> subprocess.CompletedProcess[str]:
    """Run the nodes that a patch's header names, without a GPU."""
    env = os.environ | {"VLLM_TARGET_DEVICE": "cpu", "CUDA_VISIBLE_DEVICES": ""}
    if packages:
        env["PYTHONPATH"] = str(packages)
    nodes = patch.header.entries("Test")
    return subprocess.run(
        [python, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *nodes],
        cwd=HERE.root,
        env=env,
        capture_output=True,
        text=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize("patch", read_all(HERE.patches), ids=lambda patch: patch.topic)
def test_tests_need_the_patch(
    patch: Patch, tryout_python: Path, package_without: Callable[[str], Path]
) -> None:
    with_patch = run_tests(tryout_python, patch, None)
    assert with_patch.returncode == PASSED, with_patch.stdout
    if " passed" not in with_patch.stdout:
        pytest.skip("all of its tests need a GPU")

    without = run_tests(tryout_python, patch, package_without(patch.file))

    assert without.returncode in (FAILED, INTERRUPTED), without.stdout + without.stderr
