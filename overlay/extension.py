# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Compiling the one extension module that the official wheel does not have."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from overlay import elf, process
from overlay.compiler import Toolchain
from overlay.errors import OverlayError
from overlay.files import sha256, whole_file

TARGET = "_ternary_C"
FILE = f"{TARGET}.abi3.so"
DEFINITION = "cmake/ternary_extension.cmake"

PROJECT = Path(__file__).parent / "cmake" / "CMakeLists.txt"
STAGED = ("cmake", "csrc")


@dataclass(frozen=True)
class Extension:
    """A compiled extension: the file, the architectures it has code for, and who compiled it."""

    path: Path
    sha256: str
    archs: tuple[str, ...]
    compilers: dict[str, str]


def build(
    sources: Mapping[str, bytes],
    toolchain: Toolchain,
    archs: Sequence[str],
    jobs: int,
    folder: Path,
) -> Extension:
    """Compile the extension into `folder` from the patched source's files in STAGED, by path.

    Nothing is compiled when the sources, the compilers and the architectures are those of the last
    run there. Raises CommandError with the compiler's output when it fails, and OverlayError when
    the result would not load.
    """
    compilers = toolchain.identity()
    setup = _hash(
        [PROJECT.read_text(encoding="utf-8"), *archs, *compilers.values(), str(toolchain)]
    )
    stamp = folder / "stamp.json"
    old = _read(stamp)
    if old.get("setup") != setup:
        shutil.rmtree(folder, ignore_errors=True)
        old = {}
    wanted = {**sources, "CMakeLists.txt": PROJECT.read_bytes()}
    _stage(wanted, folder / "src")
    key = _hash([f"{name} {hashlib.sha256(wanted[name]).hexdigest()}" for name in sorted(wanted)])
    result = folder / FILE
    if old.get("sources") != key or not result.is_file() or old["sha256"] != sha256(result):
        # What was compiled before an error, or a kill, is used by the next run.
        _write(stamp, {"setup": setup})
        result.unlink(missing_ok=True)
        _compile(toolchain, archs, jobs, folder)
        elf.check_extension(result)
        _write(stamp, {"setup": setup, "sources": key, "sha256": sha256(result)})
    return Extension(result, sha256(result), tuple(archs), compilers)


def _compile(toolchain: Toolchain, archs: Sequence[str], jobs: int, folder: Path) -> None:
    """Configure and build; the settings of the user's shell that steer compilers stay out."""
    env = {name: value for name, value in os.environ.items() if name not in _STEERING}
    ninja = _program("ninja")
    process.run(
        [
            _program("cmake"), "-G", "Ninja", "-S", folder / "src", "-B", folder,
            "-DCMAKE_BUILD_TYPE=Release",
            f"-DCMAKE_MAKE_PROGRAM={ninja}",
            f"-DCMAKE_CXX_COMPILER={toolchain.cxx}",
            f"-DCMAKE_CUDA_COMPILER={toolchain.nvcc}",
            f"-DCMAKE_CUDA_HOST_COMPILER={toolchain.cxx}",
            f"-DPython_EXECUTABLE={toolchain.python}",
            f"-DTORCH_HEADERS={toolchain.torch_headers}",
            f"-DCUDA_INCLUDE={toolchain.cuda_include}",
            f"-DCUDA_LIBRARIES={toolchain.cuda_libraries}",
            f"-DTERNARY_ARCHS={';'.join(archs)}",
        ],
        "configuring the extension",
        env=env,
    )  # fmt: skip
    process.run([ninja, "-C", folder, f"-j{jobs}", TARGET], "compiling the extension", env=env)


# Variables that add options, or another compiler, to what CMake and nvcc are told here.
_STEERING = frozenset(
    (
        "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "CUDAFLAGS", "CUDAARCHS", "CC", "CXX",
        "CUDACXX", "CUDAHOSTCXX", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN",
        "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "CMAKE_GENERATOR",
        "CMAKE_BUILD_TYPE", "CMAKE_PREFIX_PATH", "CMAKE_TOOLCHAIN_FILE",
    )
)  # fmt: skip


def _stage(wanted: Mapping[str, bytes], folder: Path) -> None:
    """Bring `folder` to these files.

    Those that are the same already are left alone, so that only what changed is compiled again.
    """
    for path in folder.rglob("*"):
        if path.is_file() and str(path.relative_to(folder)) not in wanted:
            path.unlink()
    for name, data in wanted.items():
        path = folder / name
        if not (path.is_file() and path.read_bytes() == data):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


def _program(name: str) -> Path:
    """A program that a package of the tool's environment brings (cmake, ninja)."""
    for file in metadata.files(name) or ():
        if file.name == name and file.parent.name == "bin":
            found = Path(str(file.locate())).resolve()
            if os.access(found, os.X_OK) and found.is_file():
                return found
    raise OverlayError(f"{name} is missing from the tool's environment: remove .work/venv")


def _hash(parts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _write(stamp: Path, data: dict[str, str]) -> None:
    with whole_file(stamp) as draft:
        draft.write_text(json.dumps(data), encoding="utf-8")


def _read(stamp: Path) -> dict[str, str]:
    """What the last run left, or nothing when it did not end well."""
    try:
        data = json.loads(stamp.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}
