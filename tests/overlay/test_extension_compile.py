# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The extension is compiled with the pinned compiler, to the same bytes in any folder."""

import dataclasses
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from overlay import compiler, extension, process
from overlay.compiler import Toolchain
from overlay.pin import load_pin
from overlay.process import CommandError

KERNEL = b"""
#include <torch/csrc/stable/tensor.h>
#include "core.h"
namespace {
__device__ int counter;
__global__ void count() { counter += STEP; }
}
void launch() { count<<<1, 1>>>(); }
// Checks inside torch's headers hold their paths.
bool any(const torch::stable::Tensor& tensor) { return tensor.numel() > 0; }
PyMODINIT_FUNC PyInit__ternary_C() { return PyModule_Create(&module); }
"""
HEADER = b"""
#pragma once
#include <Python.h>
#define STEP 1
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_ternary_C", nullptr, 0, nullptr};
"""
# The least of what vLLM's cmake/utils.cmake gives to a file like cmake/ternary_extension.cmake.
DEFINITION = b"""
Python_add_library(_ternary_C MODULE USE_SABI 3 WITH_SOABI csrc/kernel.cu)
target_include_directories(_ternary_C PRIVATE csrc)
target_compile_definitions(_ternary_C PRIVATE USE_CUDA)
target_compile_options(_ternary_C PRIVATE -gencode arch=compute_80,code=sm_80)
target_link_libraries(_ternary_C PRIVATE torch CUDA::cudart CUDA::cuda_driver)
"""
SOURCES = {
    "cmake/utils.cmake": b"",
    extension.DEFINITION: DEFINITION,
    "csrc/kernel.cu": KERNEL,
    "csrc/core.h": HEADER,
}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("CUDA_HOME", raising=False)
        # The machine's own nvcc is never looked for.
        patch.setenv("PATH", "/usr/bin:/bin")
        return compiler.prepare(load_pin())


def _build(toolchain: Toolchain, folder: Path, sources: Mapping[str, bytes] = SOURCES) -> bytes:
    return extension.build(sources, toolchain, ["8.0"], 2, folder).path.read_bytes()


@pytest.fixture(scope="module")
def built(toolchain: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the extension was compiled."""
    folder = tmp_path_factory.mktemp("first")
    _build(toolchain, folder)
    return folder


def test_same_bytes_in_another_folder(
    toolchain: Toolchain, built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXXFLAGS", "-O0 -g")
    monkeypatch.setenv("NVCC_APPEND_FLAGS", "-lineinfo")
    headers = tmp_path / "another cache" / "torch"
    shutil.copytree(toolchain.torch_headers, headers)
    toolchain = dataclasses.replace(toolchain, torch_headers=headers)
    other = _build(toolchain, tmp_path / "a longer" / "name")
    assert other == (built / extension.FILE).read_bytes()


def test_no_path_of_this_machine(toolchain: Toolchain, built: Path) -> None:
    data = (built / extension.FILE).read_bytes()
    for folder in (built, toolchain.torch_headers, toolchain.cuda_include, Path.home()):
        assert str(folder).encode() not in data


def test_nothing_changed(
    toolchain: Toolchain, built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*args: object, **options: object) -> str:
        raise AssertionError("a compiler was started")

    monkeypatch.setattr(process, "run", run)
    assert _build(toolchain, built) == (built / extension.FILE).read_bytes()


def test_changed_header_and_back(toolchain: Toolchain, built: Path) -> None:
    first = (built / extension.FILE).read_bytes()
    changed = {**SOURCES, "csrc/core.h": HEADER.replace(b"STEP 1", b"STEP 2")}
    assert _build(toolchain, built, changed) != first
    assert _build(toolchain, built) == first


def test_damaged_result(toolchain: Toolchain, built: Path) -> None:
    first = (built / extension.FILE).read_bytes()
    (built / extension.FILE).write_bytes(b"")
    assert _build(toolchain, built) == first


def test_compiler_error(toolchain: Toolchain, built: Path) -> None:
    broken = {**SOURCES, "csrc/kernel.cu": KERNEL + b"int f() { return nothing; }\n"}
    with pytest.raises(CommandError) as caught:
        _build(toolchain, built, broken)
    text = str(caught.value)
    assert text.startswith("compiling the extension failed with exit code ")
    assert 'identifier "nothing" is undefined' in text
    # The next run starts from what is right.
    _build(toolchain, built)
