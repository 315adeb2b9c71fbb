# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Of pyproject.toml only the entry points reach the wheel by way of this tool."""

import pytest

from overlay.classify import PathClass, classify

BEFORE = b"""[build-system]
requires = ["torch"]
[project]
name = "vllm"
requires-python = ">=3.11"
[project.scripts]
vllm = "vllm.cli:main"
[tool.ruff]
line-length = 88
[tool.setuptools.packages.find]
include = ["vllm*"]
"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (b"vllm.cli:main", b"vllm.cli:other", PathClass.METADATA),
        (b"[tool.ruff]", b'[project.entry-points.x]\na = "b:c"\n[tool.ruff]', PathClass.METADATA),
        (b"88", b"100", PathClass.NO_EFFECT),
        (b'["torch"]', b'["torch", "x"]', PathClass.NO_EFFECT),
        (b">=3.11", b">=3.12", PathClass.REFUSED),
        (b'"vllm*"', b'"vllm*", "x*"', PathClass.REFUSED),
    ],
)
def test_change(old: bytes, new: bytes, expected: PathClass) -> None:
    assert old in BEFORE
    assert classify("pyproject.toml", BEFORE, BEFORE.replace(old, new)) is expected


def test_removed() -> None:
    assert classify("pyproject.toml", BEFORE, None) is PathClass.REFUSED
