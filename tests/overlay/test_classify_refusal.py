# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A refused path is named with its patch and the way out."""

from overlay.classify import refusal


def test_message() -> None:
    text = str(refusal("0007-fast.patch", "csrc/torch_bindings.cpp"))
    assert text.startswith("0007-fast.patch: csrc/torch_bindings.cpp is in the official wheel ")
    assert "./build.sh --full" in text
    assert "\n" not in text
