# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""An extension that would not load is refused with the reason."""

import shutil
import subprocess
from pathlib import Path

import pytest

from overlay.elf import extension_fault, platform_tag
from overlay.errors import OverlayError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with empty libraries to link against."""
    for name in ("torch", "torch_cpu", "cuda"):
        _link(tmp_path / f"lib{name}.so", "", f"-Wl,-soname,lib{name}.so")
    return tmp_path


def _link(path: Path, code: str, *options: str) -> Path:
    source = path.with_suffix(".c")
    source.write_text(code)
    command = [shutil.which("gcc") or "cc", "-shared", "-fPIC", "-o", str(path), str(source)]
    subprocess.run([*command, *options], check=True)
    return path


def _extension(folder: Path, code: str, *options: str) -> Path:
    torch = ["-Wl,--no-as-needed", f"-L{folder}", "-ltorch", "-ltorch_cpu"]
    return _link(folder / "_x.abi3.so", code, *torch, *options)


def _fault(folder: Path, code: str, *options: str) -> str | None:
    return extension_fault(_extension(folder, code, *options).read_bytes())


def test_right(folder: Path) -> None:
    code = """#include <stdio.h>
    int PyModule_Create2(void), aoti_torch_call(void);
    __attribute__((weak)) int maybe(void);
    int f(void) { puts(""); return PyModule_Create2() + aoti_torch_call() + (maybe ? maybe() : 0); }
    """
    assert _fault(folder, code) is None


def test_undefined_symbol(folder: Path) -> None:
    assert _fault(folder, "int g(void); int f(void) { return g(); }") == "nothing provides g"


def test_driver(folder: Path) -> None:
    assert _fault(folder, "", "-lcuda") == "it needs libcuda.so"


def test_library_path(folder: Path) -> None:
    assert _fault(folder, "", "-Wl,-rpath,/opt/x") == "it looks for libraries in /opt/x"


def test_without_torch(folder: Path) -> None:
    path = _link(folder / "_y.abi3.so", "")
    assert extension_fault(path.read_bytes()) == (
        "it does not name libtorch.so, libtorch_cpu.so, whose symbols it uses"
    )


def test_not_elf() -> None:
    assert (extension_fault(b"#!/bin/sh\n") or "").startswith("it is not an ELF file")


def test_other_machine(folder: Path) -> None:
    data = bytearray(_extension(folder, "").read_bytes())
    data[18:20] = (183).to_bytes(2, "little")  # e_machine: aarch64
    assert "EM_AARCH64, not an x86-64 shared object" in (extension_fault(bytes(data)) or "")


def test_platform_of_old_symbols_is_the_official_wheels(folder: Path) -> None:
    old = _extension(folder, '__asm__(".symver puts,puts@GLIBC_2.2.5"); int puts(const char *);'
                     'int f(void) { return puts(""); }')  # fmt: skip
    assert platform_tag([old], "manylinux_2_28_x86_64") == "manylinux_2_28_x86_64"
    assert platform_tag([], "manylinux_2_28_x86_64") == "manylinux_2_28_x86_64"


def test_platform_of_newer_symbols(folder: Path) -> None:
    new = _extension(folder, "int pthread_create(); int f(void) { return pthread_create(); }")
    official = "manylinux_2_17_x86_64"
    assert platform_tag([new], official) != official


def test_unknown_platform() -> None:
    with pytest.raises(OverlayError, match="any is not known to auditwheel"):
        platform_tag([], "any")
