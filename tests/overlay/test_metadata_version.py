# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The wheel's version stands in its metadata and in the module vLLM reports it from."""

import pytest
from fake_wheel import METADATA, VERSION, WHEEL

from overlay import dist_metadata
from overlay.errors import OverlayError


def test_metadata() -> None:
    changed = dist_metadata.set_version(METADATA, "1.2.3", "1.2.3+ternary.7")
    assert changed == METADATA.replace(b"Version: 1.2.3", b"Version: 1.2.3+ternary.7")


def test_module() -> None:
    names: dict[str, object] = {}
    exec(dist_metadata.set_module_version(VERSION, "1.2.3", "1.2.3+ternary.7"), names)
    assert names["__version__"] == names["version"] == "1.2.3+ternary.7"
    assert names["__version_tuple__"] == (1, 2, 3, "ternary.7")


def test_tag() -> None:
    changed = dist_metadata.set_tag(WHEEL, "cp38-abi3-manylinux_2_34_x86_64").decode()
    assert "\nTag: cp38-abi3-manylinux_2_34_x86_64\n" in changed
    assert "linux_x86_64\nTag" not in changed
    assert "\nGenerator: ternary-vllm\n" in changed


def test_official_wheel_of_other_version() -> None:
    with pytest.raises(OverlayError, match=r"METADATA does not say 'Version: 9\.9' once"):
        dist_metadata.set_version(METADATA, "9.9", "9.9+ternary.1")
    with pytest.raises(OverlayError, match=r"vllm/_version\.py does not say"):
        dist_metadata.set_module_version(VERSION, "9.9", "9.9+ternary.1")


def test_wheel_of_two_tags() -> None:
    with pytest.raises(OverlayError, match="2 tags; one is expected"):
        dist_metadata.set_tag(WHEEL + b"Tag: py3-none-any\n", "x")
