# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What a benchmark says where what it needs is missing."""

import argparse
import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path


def need(*modules: str) -> None:
    """Ends the program, in one line, unless these modules can be imported."""
    for module in modules:
        try:
            import_module(module)
        except ModuleNotFoundError as fault:
            raise SystemExit(
                f"error: no {fault.name}: take the Python that the wheel is installed in"
            ) from None


def need_gpu() -> None:
    """Ends the program, in one line, unless torch finds an NVIDIA GPU."""
    need("torch")
    import torch

    if not torch.cuda.is_available():
        raise SystemExit("error: no NVIDIA GPU found through torch")


def need_cpu_kernels() -> None:
    """Ends the program, in one line, unless the installed vLLM has kernels for CPUs.

    Its servers would start without them and fail, with an error that does not say so.
    """
    found = find_spec("vllm")  # does not import it
    folders = (found.submodule_search_locations if found else None) or []
    if not any(any(Path(folder).glob("_C.*")) for folder in folders):
        raise SystemExit(
            "error: VLLM_TARGET_DEVICE is cpu, but this Python's vLLM has no kernels for CPUs: "
            "take that of a CPU try-out"
        )


def need_vllm_device() -> None:
    """Ends the program, in one line, unless there is what the installed vLLM runs on."""
    if os.environ.get("VLLM_TARGET_DEVICE") == "cpu":
        need_cpu_kernels()
    else:
        need_gpu()


def need_folder(parser: argparse.ArgumentParser, file: Path) -> None:
    """Ends the program with code 2 when there is no folder for the file that it will write."""
    if not file.resolve().parent.is_dir():
        parser.error(f"{file}: there is no such folder")
