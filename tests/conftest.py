# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Fixtures that tests of more than one folder use."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def tryout_python() -> Path:
    """Python of a CPU try-out environment, which has the built wheel installed."""
    root = os.environ.get("TERNARY_TRYOUT")
    if not root:
        pytest.fail("set TERNARY_TRYOUT to a try-out environment (./build.sh --cpu-tryout DIR)")
    python = Path(root) / "bin" / "python"
    if not python.exists():
        pytest.fail(f"TERNARY_TRYOUT: there is no {python}")
    return python
