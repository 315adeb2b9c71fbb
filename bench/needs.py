# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What a benchmark says where what it needs is missing."""

from importlib import import_module


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
