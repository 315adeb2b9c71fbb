# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Each patch's tests fail when the patch is left out; with it they pass (tests/patches)."""

import os
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from overlay.patchfile import Patch, read_all
from overlay.paths import HERE

PASSED, FAILED, INTERRUPTED = 0, 1, 2  # pytest's exit codes
Run = Future[subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def runs(
    request: pytest.FixtureRequest, tryout_python: Path, package_without: Callable[[str], Path]
) -> Iterator[dict[str, Run]]:
    """By topic, the run of a patch's tests without the patch; two at a time, as each is slow."""

    def start(patch: Patch) -> Run:
        # One after the other: each builds commits in the same repository.
        package = package_without(patch.topic)
        nodes = patch.header.entries("Test")
        return pool.submit(
            subprocess.run,
            [tryout_python, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *nodes],
            cwd=HERE.root,
            env=os.environ
            | {"VLLM_TARGET_DEVICE": "cpu", "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
            | {"PYTHONPATH": str(package)},
            capture_output=True,
            text=True,
        )

    with ThreadPoolExecutor(max_workers=2) as pool:
        items = [item for item in request.session.items if item.path == request.path]
        yield {patch.topic: start(patch) for patch in (i.callspec.params["patch"] for i in items)}
        pool.shutdown(cancel_futures=True)


@pytest.mark.slow
@pytest.mark.parametrize("patch", read_all(HERE.patches), ids=lambda patch: patch.topic)
def test_tests_need_the_patch(patch: Patch, runs: dict[str, Run]) -> None:
    run = runs[patch.topic].result()

    if run.returncode == PASSED and " passed" not in run.stdout:
        pytest.skip("all of its tests need a GPU")
    assert run.returncode in (FAILED, INTERRUPTED), run.stdout + run.stderr
