# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Killed at any moment of a build, dist/ has no half-written wheel; the next build ends right."""

import shutil
import zipfile
from pathlib import Path

import pytest
from killing import kills, resetting
from small_build import SmallBuild

from overlay import extension, process
from overlay.verify import verify

KERNEL = "csrc/quantization/ternary/kernel.c"
CODE = "int PyModule_Create2(void), aoti_torch_call(void);\n"
CODE += "int f(void) { return PyModule_Create2() + aoti_torch_call(); }\n"


@pytest.fixture
def compiled(small: SmallBuild, monkeypatch: pytest.MonkeyPatch) -> SmallBuild:
    """A project whose series adds an extension, and a compiler that takes milliseconds."""
    gcc = shutil.which("gcc") or "cc"
    for name in ("torch", "torch_cpu"):
        file = small.root / f"lib{name}.so"
        process.run([gcc, "-shared", "-x", "c", "/dev/null", "-o", file], "the library")

    def compile_quickly(toolchain: object, archs: object, jobs: object, folder: Path) -> None:
        source = folder / "src" / KERNEL
        libraries = ["-Wl,--no-as-needed", f"-L{small.root}", "-ltorch", "-ltorch_cpu"]
        command = [gcc, "-shared", "-fPIC", source, "-o", folder / extension.FILE, *libraries]
        process.run(command, "compiling")

    monkeypatch.setattr(extension, "_compile", compile_quickly)
    small.add_patch("kernel", {extension.DEFINITION: "\n", KERNEL: CODE})
    small.add_patch("change", {"vllm/__init__.py": "import sys\n"})
    small.apply()
    return small


def test_next_build_ends_right(compiled: SmallBuild) -> None:
    earlier = compiled.dist / "vllm-0.31.0+ternary.1-cp38-abi3-manylinux_2_28_x86_64.whl"
    compiled.dist.mkdir()
    earlier.write_bytes(b"of another version\n")
    reset = resetting(compiled.workspace.root, compiled.root / "kept")

    wheel = compiled.build()[0]
    wanted = wheel.read_bytes()
    assert verify(wheel).faults == []
    reset()
    for moment in kills("build", compiled.build, reset, 25, 6):
        assert earlier.exists(), moment
        assert set(compiled.dist.iterdir()) <= {earlier, wheel}, moment
        if wheel.exists():
            assert wheel.read_bytes() == wanted, moment
        assert compiled.build()[0].read_bytes() == wanted, moment
        assert set(compiled.dist.iterdir()) == {earlier, wheel}, moment
        assert not list((compiled.workspace.work / "build").glob(".*.part")), moment
        with zipfile.ZipFile(wheel) as archive:
            assert archive.testzip() is None, moment
