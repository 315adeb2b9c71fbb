# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What a benchmark says with a Python that lacks what it imports."""

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
