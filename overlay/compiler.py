# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What compiles the extension: the machine's own tools, checked, and CUDA's, from PyPI."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from overlay import process
from overlay.bootstrap import PYTHONS
from overlay.errors import OverlayError
from overlay.fetch import fetch
from overlay.files import make_folder, unpack
from overlay.paths import cache_dir
from overlay.pin import Artifact, Pin

GCC_MIN = (11, 3)
GCC_MAX = 15

# All that the extension includes; the rest of torch's headers would tie it to one version.
_TORCH_HEADERS = (
    "torch/csrc/inductor/aoti_torch/",
    "torch/csrc/stable/",
    "torch/headeronly/",
)


@dataclass(frozen=True)
class Toolchain:
    """The programs and folders that compile the extension, with their versions."""

    nvcc: Path
    cuda_include: Path
    cuda_libraries: Path
    cuda_version: str
    cxx: Path
    cxx_version: str
    python: Path
    torch_headers: Path
    torch_version: str

    def identity(self) -> dict[str, str]:
        """The versions that decide which bytes come out, as the wheel's manifest records them."""
        return {
            "cuda": self.cuda_version,
            "cxx": self.cxx_version,
            "torch-headers": self.torch_version,
        }


def check_machine() -> None:
    """Check what must be there before anything is downloaded.

    Raises OverlayError with one line that says what to install.
    """
    machine = platform.machine()
    if sys.platform != "linux" or machine not in ("x86_64", "AMD64"):
        raise OverlayError(
            f"this machine is {sys.platform} on {machine}: the pinned wheel is for Linux on x86-64 "
            "alone (aarch64 is not supported); build on an x86-64 machine"
        )
    low, high = PYTHONS
    if not low <= sys.version_info[:2] <= high:
        raise OverlayError(
            f"Python {platform.python_version()} runs this: install Python {low[0]}.{low[1]} to "
            f"{high[0]}.{high[1]} and put it first on PATH as python3"
        )
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise OverlayError(
            "this Python is free-threaded, which has no stable ABI: use an ordinary build of Python"
        )
    if not python_include().joinpath("Python.h").is_file():
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        raise OverlayError(
            f"Python's headers are missing ({python_include()}/Python.h): install them "
            f"(Debian, Ubuntu: apt install python{version}-dev)"
        )
    if shutil.which("git") is None:
        raise OverlayError("git is not on PATH: install git (Debian, Ubuntu: apt install git)")
    find_cxx()


def python_include() -> Path:
    """The folder of the running Python's headers."""
    return Path(sysconfig.get_path("include"))


def find_cxx() -> tuple[Path, str]:
    """The C++ compiler (`CXX`, or g++) and its version.

    Raises OverlayError when it is missing, not GCC, or of a version that cannot compile torch's
    headers or is not known to CUDA.
    """
    name = os.environ.get("CXX", "g++")
    found = shutil.which(name)
    wanted = f"{GCC_MIN[0]}.{GCC_MIN[1]} to {GCC_MAX}"
    if found is None:
        what = f"CXX is {name}, which" if "CXX" in os.environ else name
        raise OverlayError(
            f"{what} is not on PATH: install GCC's C++ compiler, {wanted} "
            "(Debian, Ubuntu: apt install g++)"
        )
    said = process.run([found, "--version"], f"{name} --version")
    if "Free Software Foundation" not in said:  # others do not know the next option
        raise OverlayError(f"{found} is not GCC: set CXX to a g++ of version {wanted}")
    version = process.run([found, "-dumpfullversion"], f"{name} -dumpfullversion").strip()
    if not re.fullmatch(r"\d+\.\d+(\.\d+)?", version):
        raise OverlayError(f"{found} is GCC {version!r}, which is no version: set CXX to another")
    numbers = tuple(int(part) for part in version.split("."))
    if numbers[:2] < GCC_MIN or numbers[0] > GCC_MAX:
        raise OverlayError(
            f"{found} is GCC {version}, and {wanted} is needed: install one (Debian, Ubuntu: "
            "apt install g++-12) and set CXX to it"
        )
    return Path(found), said.splitlines()[0].strip()


def prepare(pin: Pin) -> Toolchain:
    """The toolchain, fetched where it is not at hand.

    CUDA is `CUDA_HOME`'s when that is set and otherwise the pinned packages', so that the nvcc a
    machine happens to have on PATH does not change the wheel. Raises OverlayError.
    """
    cxx, cxx_version = find_cxx()
    home = os.environ.get("CUDA_HOME")
    root = Path(home) if home else _pinned_cuda(pin)
    nvcc = root / "bin" / "nvcc"
    advice = (
        f"set CUDA_HOME to a CUDA {pin.cuda} toolkit, or unset it to use the compiler packages "
        "from PyPI"
    )
    if not nvcc.is_file() and not home:
        raise OverlayError(f"{root} has lost its bin/nvcc: delete that folder, and it is made anew")
    if not nvcc.is_file():
        raise OverlayError(f"CUDA_HOME is {root}, which has no bin/nvcc: {advice}")
    version = _nvcc_version(nvcc)
    if version.split(".")[:2] != pin.cuda.split("."):
        raise OverlayError(f"{nvcc} is CUDA {version}, torch's runtime {pin.cuda}: {advice}")
    return Toolchain(
        nvcc=nvcc,
        cuda_include=root / "include",
        cuda_libraries=root / "lib64",
        cuda_version=version,
        cxx=cxx,
        cxx_version=cxx_version,
        python=Path(sys.executable),
        torch_headers=_torch_headers(pin),
        torch_version=pin.torch,
    )


def _pinned_cuda(pin: Pin) -> Path:
    """The compiler packages of the pin as one toolkit folder in the cache."""

    def fill(draft: Path) -> None:
        for package in pin.compiler:
            unpack(fetch(package), f"nvidia/cu{pin.cuda.split('.')[0]}/", ("",), draft)
        # nvcc.profile looks for the libraries where the toolkit's installer puts them.
        (draft / "lib64").symlink_to("lib")

    folder = _cache_folder("cuda", pin.compiler)
    make_folder(folder, fill)
    return folder


def _torch_headers(pin: Pin) -> Path:
    """The include folder with the part of torch's headers that is used, in the cache."""
    folder = _cache_folder("torch-headers", (pin.torch_headers,))
    make_folder(
        folder,
        lambda draft: unpack(fetch(pin.torch_headers), "torch/include/", _TORCH_HEADERS, draft),
    )
    return folder


def _cache_folder(name: str, artifacts: Sequence[Artifact]) -> Path:
    """The folder in the cache for what is unpacked from `artifacts`: its name is their hash."""
    key = hashlib.sha256("".join(artifact.sha256 for artifact in artifacts).encode()).hexdigest()
    return cache_dir() / f"{name}-{key[:16]}"


def _nvcc_version(nvcc: Path) -> str:
    """The version nvcc reports, as in 13.0.88."""
    said = process.run([nvcc, "--version"], f"{nvcc} --version")
    match = re.search(r"\bV(\d+\.\d+\.\d+)\b", said)
    if match is None:
        raise OverlayError(f"{nvcc} --version names no version: {said.strip()!r}")
    return match[1]
