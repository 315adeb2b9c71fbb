# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""RECORD is read strictly."""

import pytest

from overlay.errors import OverlayError
from overlay.wheel import Recorded, read_record


def test_lines() -> None:
    text = '"vllm/a,b.json",sha256=abc,3\nvllm/x.pyc,,\n'
    assert read_record(text) == {
        "vllm/a,b.json": Recorded("sha256=abc", 3),
        "vllm/x.pyc": Recorded("", None),
    }


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a,sha256=x\n", "RECORD:1: not a line of three fields"),
        ("a,,\nb,sha256=x,many\n", "RECORD:2: not a line of three fields"),
        ("a,,\na,,\n", "RECORD:2: a is there twice"),
    ],
)
def test_fault(text: str, fault: str) -> None:
    with pytest.raises(OverlayError, match=fault):
        read_record(text)
