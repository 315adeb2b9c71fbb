# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A second build with nothing changed does nothing; whatever changed makes a new wheel."""

import shutil

import pytest
from small_build import SmallBuild


@pytest.fixture
def built(small: SmallBuild) -> SmallBuild:
    small.add_patch("change", {"vllm/__init__.py": "import sys\n"})
    assert small.build()[1]
    return small


def test_nothing_changed(built: SmallBuild) -> None:
    before = built.build()[0].stat()
    wheel, fresh = built.build()
    assert not fresh
    assert wheel.stat() == before


def test_same_bytes_from_nothing(built: SmallBuild) -> None:
    first = built.build()[0].read_bytes()
    shutil.rmtree(built.workspace.work)
    shutil.rmtree(built.dist)
    wheel, fresh = built.build()
    assert fresh
    assert wheel.read_bytes() == first


def test_wheel_half_written_by_a_kill(built: SmallBuild) -> None:
    left = built.workspace.work / "build" / ".vllm-0.31.0+ternary.1-cp38-abi3-x.whl.part"
    left.touch()
    built.archs = ["9.0a"]
    built.build()
    assert not left.exists()


def test_other_architectures(built: SmallBuild) -> None:
    built.archs = ["9.0a"]
    assert built.build()[1]


def test_other_series(built: SmallBuild) -> None:
    first = built.build()[0].read_bytes()
    built.add_patch("more", {"vllm/new.py": "NEW = 1\n"})
    wheel, fresh = built.build()
    assert fresh
    assert wheel.read_bytes() != first


def test_wheel_changed_or_gone(built: SmallBuild) -> None:
    wheel = built.build()[0]
    first = wheel.read_bytes()
    wheel.write_bytes(b"damaged")
    assert built.build() == (wheel, True)
    wheel.unlink()
    assert built.build() == (wheel, True)
    assert wheel.read_bytes() == first


def test_wheel_of_the_same_version_with_another_tag_goes(built: SmallBuild) -> None:
    stale = built.dist / "vllm-0.32.0+ternary.1-cp38-abi3-manylinux_2_99_x86_64.whl"
    other = built.dist / "vllm-0.31.0+ternary.1-cp38-abi3-manylinux_2_28_x86_64.whl"
    stale.touch()
    other.touch()
    built.archs = ["9.0a"]
    wheel = built.build()[0]
    assert {path.name for path in built.dist.iterdir()} == {wheel.name, other.name}
