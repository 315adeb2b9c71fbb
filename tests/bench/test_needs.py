# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A Python without what a benchmark imports is named in one line, not in a traceback."""

import pytest
from needs import need


def test_a_missing_module_is_named() -> None:
    with pytest.raises(SystemExit) as refused:
        need("json", "no_such_module")
    assert str(refused.value) == (
        "error: no no_such_module: take the Python that the wheel is installed in"
    )
