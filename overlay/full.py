# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The complete build: all of vLLM compiled from the patched source, by its own setup.py.

For patches that change the official wheel's binaries, and for machines that must compile all they
run. It takes hours and much memory, a whole CUDA toolkit, a Rust toolchain, and the network: vLLM's
CMake clones its dependencies. The wheel has no manifest, so `verify` has nothing to check it by.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from overlay import process, tryout
from overlay.errors import OverlayError
from overlay.pin import Pin

# 9.0 and 9.0a are one to vLLM's CMake, and it chooses the PTX of each kernel itself.
_VLLM_ARCHS = {"9.0a": "9.0"}


def settings(pin: Pin, archs: Sequence[str], jobs: int, cuda_home: Path) -> dict[str, str]:
    """The environment variables that steer vLLM's build."""
    names = [arch.removesuffix("+PTX") for arch in archs]
    return {
        "CUDA_HOME": str(cuda_home),
        "MAX_JOBS": str(jobs),
        "NVCC_THREADS": "1",
        "TORCH_CUDA_ARCH_LIST": " ".join(_VLLM_ARCHS.get(name, name) for name in names),
        "VLLM_REQUIRE_RUST_FRONTEND": "1",
        "VLLM_TARGET_DEVICE": "cuda",
        "VLLM_VERSION_OVERRIDE": pin.wheel_version,
    }


def commands(tree: Path, dist: Path, folder: Path) -> list[list[str]]:
    """The commands of the build, in order; the source is a copy, for the build writes into it."""
    source, venv = folder / "vllm", folder / "venv"
    python = str(venv / "bin" / "python")
    return [
        ["rm", "-rf", str(source)],
        ["git", "clone", "--quiet", str(tree), str(source)],
        [sys.executable, "-m", "venv", str(venv)],
        [python, "-m", "pip", "install", "-r", str(source / "requirements" / "build" / "cuda.txt")],
        [python, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation",
         "--wheel-dir", str(dist), str(source)],
    ]  # fmt: skip


def build(
    pin: Pin, tree: Path, dist: Path, work: Path, archs: Sequence[str], jobs: int, dry_run: bool
) -> None:
    """Build the complete wheel into `dist`, or only print what would be run.

    Raises OverlayError when a toolchain is missing, CommandError when a step fails.
    """
    home = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"))
    tools = work / "full" / "venv" / "bin"  # cmake and ninja, which setup.py looks for on PATH
    steered = settings(pin, archs, jobs, home)
    steps = commands(tree, dist, work / "full")
    if dry_run:
        for name, value in steered.items():
            print(f"export {name}={shlex.quote(value)}")
        print(f'export PATH={shlex.quote(str(tools))}:"$PATH"')
        for step in steps:
            print(shlex.join(step))
        return
    if not (home / "bin" / "nvcc").is_file():
        raise OverlayError(
            f"--full needs a whole CUDA {pin.cuda} toolkit, and {home}/bin/nvcc is missing: "
            "install one and set CUDA_HOME to it"
        )
    for tool in ("cargo", "protoc"):
        if shutil.which(tool) is None:
            raise OverlayError(f"--full needs {tool} on PATH for vLLM's Rust parts: install it")
    env = {**tryout.environment(), **steered}
    env["PATH"] = f"{tools}{os.pathsep}{os.environ['PATH']}"
    for step in steps:
        process.run(step, "the complete build", env=env, show=True)
