# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The project's own series has no fault that lint knows."""

from overlay.lint import lint


def test_no_faults() -> None:
    assert lint() == []
