# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Compiles CUDA source in the process: NVRTC comes with torch, so no compiler need be installed."""

import ctypes
from pathlib import Path

import torch


def _nvrtc() -> ctypes.CDLL:
    """NVRTC of the CUDA version that torch was built with."""
    name = f"libnvrtc.so.{str(torch.version.cuda).split('.')[0]}"
    packages = Path(torch.__file__).parents[1] / "nvidia"
    for path in packages.glob(f"*/lib/{name}"):
        return load_nvrtc(path)
    return ctypes.CDLL(name)  # of the system, as for a torch built from source


def load_nvrtc(path: Path) -> ctypes.CDLL:
    """NVRTC from a folder off the loader's path: it looks for its second library by name alone."""
    for builtins in path.parent.glob("libnvrtc-builtins.so.*"):
        ctypes.CDLL(str(builtins))
    return ctypes.CDLL(str(path))


def compile_cubin(source: str, arch: str) -> bytes:
    """Machine code of `source` for `arch` (as in sm_90). Raises RuntimeError with the log."""
    nvrtc = _nvrtc()
    program = ctypes.c_void_p()
    _check(
        nvrtc.nvrtcCreateProgram(
            ctypes.byref(program), source.encode(), b"bench.cu", 0, None, None
        ),
        "nvrtcCreateProgram",
    )
    options = (ctypes.c_char_p * 2)(f"--gpu-architecture={arch}".encode(), b"--std=c++17")
    failed = nvrtc.nvrtcCompileProgram(program, len(options), options)
    size = ctypes.c_size_t()
    if failed:
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(program, log)
        raise RuntimeError(f"the benchmark's own kernels do not compile:\n{log.value.decode()}")
    _check(nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size)), "nvrtcGetCUBINSize")
    cubin = ctypes.create_string_buffer(size.value)
    _check(nvrtc.nvrtcGetCUBIN(program, cubin), "nvrtcGetCUBIN")
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return cubin.raw


class Kernels:
    """The kernels (extern "C") of one CUDA source, compiled for the current GPU."""

    def __init__(self, source: str) -> None:
        torch.cuda.init()
        torch.empty(1, device="cuda")  # makes the context current
        major, minor = torch.cuda.get_device_capability()
        self._driver = ctypes.CDLL("libcuda.so.1")
        self._module = ctypes.c_void_p()
        cubin = compile_cubin(source, f"sm_{major}{minor}")
        _check(self._driver.cuModuleLoadData(ctypes.byref(self._module), cubin), "cuModuleLoadData")

    def launch(
        self,
        name: str,
        grid: tuple[int, int],
        block: tuple[int, int],
        *arguments: torch.Tensor | int,
        shared: int = 0,
    ) -> None:
        """Launch on the current stream. Tensors are passed as pointers, numbers as C ints.

        `shared` is the dynamic shared memory of a block, in bytes (at most 48 KiB).
        """
        function = ctypes.c_void_p()
        _check(
            self._driver.cuModuleGetFunction(ctypes.byref(function), self._module, name.encode()),
            f"cuModuleGetFunction({name})",
        )
        values = [
            ctypes.c_void_p(a.data_ptr()) if isinstance(a, torch.Tensor) else ctypes.c_int(a)
            for a in arguments
        ]
        pointers = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        _check(
            self._driver.cuLaunchKernel(
                function, *grid, 1, *block, 1, shared, stream, pointers, None
            ),
            f"cuLaunchKernel({name})",
        )


def _check(result: int, what: str) -> None:
    if result != 0:
        raise RuntimeError(f"{what} returned {result}")
