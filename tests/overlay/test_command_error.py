# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A program that fails is shown with its exit code and the end of what it said."""

import sys

import pytest

from overlay.errors import OverlayError
from overlay.process import CommandError, run


def test_failure() -> None:
    program = "for i in range(90): print('line', i)\nraise SystemExit(3)"
    with pytest.raises(CommandError) as caught:
        run([sys.executable, "-c", program], "compiling it")
    lines = str(caught.value).splitlines()
    assert lines[0] == "compiling it failed with exit code 3"
    assert lines[1].startswith(f"  command: {sys.executable} -c ")
    assert lines[-1] == "    line 89"
    assert "    line 49" not in lines


def test_not_there() -> None:
    with pytest.raises(OverlayError, match="compiling it: cannot run /no/such: No such file"):
        run(["/no/such"], "compiling it")
