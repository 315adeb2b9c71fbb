# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""`--archs` takes a list and puts it in order."""

import pytest

from overlay.archs import DEFAULT, parse


@pytest.mark.parametrize(
    ("text", "archs"),
    [
        ("8.6", ("8.6",)),
        ("12.0,8.0 9.0a;8.9", ("8.0", "8.9", "9.0a", "12.0")),
        ("9.0", ("9.0a",)),
        ("8.0+PTX", ("8.0+PTX",)),
        ("8.0 8.0+PTX 8.0", ("8.0+PTX",)),
        (" ".join(DEFAULT), DEFAULT),
    ],
)
def test_list(text: str, archs: tuple[str, ...]) -> None:
    assert parse(text) == archs
