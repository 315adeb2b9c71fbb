# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Requirements and entry points that the series changes reach the wheel's metadata."""

from small_build import INFO, SOURCE, SmallBuild


def test_requirement(small: SmallBuild) -> None:
    small.add_patch("need", {"requirements/common.txt": "regex\neinops>=0.8\n"})
    metadata = small.contents()[f"{INFO}METADATA"]
    assert b"\nRequires-Dist: regex\n" in metadata
    assert b"\nRequires-Dist: einops>=0.8\n" in metadata


def test_entry_point(small: SmallBuild) -> None:
    text = SOURCE["pyproject.toml"] + '[project.entry-points.plugins]\nx = "vllm.new:x"\n'
    small.add_patch("plug", {"pyproject.toml": text})
    found = small.contents()[f"{INFO}entry_points.txt"].decode()
    assert found == "[console_scripts]\nvllm = vllm.cli:main\n\n[plugins]\nx = vllm.new:x\n"
