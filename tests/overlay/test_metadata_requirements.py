# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A change of vLLM's requirements files becomes the same change of METADATA."""

import pytest
from fake_wheel import METADATA

from overlay.dist_metadata import change_requirements
from overlay.errors import OverlayError

BEFORE = b"-r x.txt\nregex # for replace\ntorch==2.13.0\nflashinfer-cubin==1\n"


def _requires(after: bytes) -> list[str]:
    changed = change_requirements(METADATA, "requirements/common.txt", BEFORE, after).decode()
    assert changed.endswith("\n\nRead me.\n")
    return [line.removeprefix("Requires-Dist: ") for line in changed.splitlines() if "Dist" in line]


def test_added_before_the_extras() -> None:
    after = BEFORE + b"einops>=1 # new\n"
    assert _requires(after) == ["regex", "torch==2.13.0", "einops>=1", 'pandas; extra == "bench"']


def test_gone_and_changed() -> None:
    after = BEFORE.replace(b"regex # for replace\n", b"").replace(b"2.13.0", b"2.13.1")
    assert _requires(after) == ["torch==2.13.1", 'pandas; extra == "bench"']


def test_comment_and_what_the_wheel_never_requires() -> None:
    after = BEFORE.replace(b"for replace", b"other").replace(b"cubin==1", b"cubin==2")
    assert _requires(after) == ["regex", "torch==2.13.0", 'pandas; extra == "bench"']


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        (b"numpy\n", b"", "'numpy' goes, but the official wheel requires it 0 times"),
        (b"", b"regex\n\nnot a ~ requirement\n", "requirements/common.txt:3: not a requirement"),
        (b"", b"-r more.txt\n", "the options of pip in it change"),
    ],
)
def test_fault(before: bytes, after: bytes, fault: str) -> None:
    with pytest.raises(OverlayError, match=fault):
        change_requirements(METADATA, "requirements/common.txt", before, after)
