# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""vLLM's own build files may hook the extension in, and change in no other way."""

import pytest

from overlay.classify import PathClass, classify

BEFORE = b"if(CUDA)\n  include(cmake/a.cmake)\nendif()\n"


@pytest.mark.parametrize("path", ["CMakeLists.txt", "setup.py"])
@pytest.mark.parametrize(
    "after",
    [
        BEFORE.replace(b"  include", b"  include(cmake/ternary_extension.cmake)\n  include"),
        BEFORE + b'\n# The kernels.\next_modules.append("vllm._ternary_C")\n',
    ],
)
def test_hook(path: str, after: bytes) -> None:
    assert classify(path, BEFORE, after) is PathClass.COMPILED


@pytest.mark.parametrize("path", ["CMakeLists.txt", "setup.py"])
@pytest.mark.parametrize(
    "after",
    [
        BEFORE + b"include(cmake/ternary_extension.cmake)\nset(CMAKE_CXX_FLAGS -O0)\n",
        BEFORE.replace(b"cmake/a.cmake", b"cmake/ternary_extension.cmake"),
        BEFORE.replace(b"  include(cmake/a.cmake)\n", b""),
        None,
    ],
)
def test_other_change(path: str, after: bytes | None) -> None:
    assert classify(path, BEFORE, after) is PathClass.REFUSED


def test_new_build_file() -> None:
    assert classify("setup.py", None, b"# ternary\n") is PathClass.REFUSED
