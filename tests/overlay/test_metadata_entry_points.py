# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A change of pyproject.toml's entry points becomes the same change of entry_points.txt."""

import configparser

import pytest
from fake_wheel import ENTRY_POINTS

from overlay.dist_metadata import change_entry_points
from overlay.errors import OverlayError

BEFORE = b'[project.scripts]\nvllm = "vllm.cli:main"\n'


def _groups(data: bytes) -> dict[str, dict[str, str]]:
    parser = configparser.ConfigParser()
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(data.decode())
    return {group: dict(parser[group]) for group in parser.sections()}


def test_changed_and_added() -> None:
    after = b"""[project.scripts]
vllm = "vllm.cli:other"
[project.entry-points."vllm.general_plugins"]
Ternary = "vllm.x:register"
"""
    assert _groups(change_entry_points(ENTRY_POINTS, BEFORE, after)) == {
        "console_scripts": {"vllm": "vllm.cli:other"},
        "vllm.general_plugins": {"Ternary": "vllm.x:register"},
    }


def test_gone() -> None:
    assert _groups(change_entry_points(ENTRY_POINTS, BEFORE, b"")) == {"console_scripts": {}}


def test_official_wheel_has_another() -> None:
    other = ENTRY_POINTS.replace(b"main", b"start")
    with pytest.raises(OverlayError, match="the entry point vllm in console_scripts changes, but"):
        change_entry_points(other, BEFORE, b"")
