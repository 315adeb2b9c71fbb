# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""bisect --wheel builds a wheel for each set of patches, once."""

import sys
import zipfile
from pathlib import Path

import pytest
from small_build import SmallBuild

from overlay import build
from overlay.bisect import bisect
from overlay.errors import OverlayError
from overlay.wheels import Wheels

SCRIPT = """
import os, sys, zipfile
with zipfile.ZipFile(os.environ["OVERLAY_WHEEL"]) as wheel:
    sys.exit(wheel.read("vllm/old.py") == b"OLD = 3\\n")
"""


def test_built_once(small: SmallBuild, monkeypatch: pytest.MonkeyPatch) -> None:
    small.add_patch("one", {"vllm/old.py": "OLD = 2\n"})
    small.add_patch("two", {"vllm/config.json": "[]\n"})
    small.add_patch("three", {"vllm/old.py": "OLD = 3\n"})
    small.add_patch("four", {"docs/index.md": "Bye.\n"})
    small.apply()
    before = small.state()
    made: list[Path] = []
    plain = build.build_wheel

    def count(*args: object) -> tuple[Path, bool]:
        result = plain(*args)
        made.append(result[0])
        return result

    monkeypatch.setattr(build, "build_wheel", count)
    for _ in range(2):
        wheels = Wheels(small.workspace, small.archs, 1)
        found = bisect(
            [sys.executable, "-c", SCRIPT], small.pin, small.workspace, wheels, lambda text: None
        )
        assert (found.name, found.needs, found.runs) == ("three", ["one"], len(made))
    assert small.state() == before
    assert not small.dist.exists()
    kept = list((small.workspace.work / "bisect" / "wheels").glob("*/*.whl"))
    assert len(kept) == len(made)
    assert all(zipfile.is_zipfile(path) for path in kept)


def test_a_set_that_cannot_be_built_cannot_be_tried(small: SmallBuild) -> None:
    small.add_patch("one", {"vllm/old.py": "OLD = 2\n"})
    small.add_patch("two", {"csrc/torch_bindings.cpp": "int other;\n"})
    small.add_patch("three", {"csrc/torch_bindings.cpp": "int main;\n", "vllm/old.py": "OLD = 3\n"})
    small.apply()
    said: list[str] = []
    wheels = Wheels(small.workspace, small.archs, 1)
    with pytest.raises(OverlayError, match="cannot be tried"):
        bisect([sys.executable, "-c", SCRIPT], small.pin, small.workspace, wheels, said.append)
    assert any("no wheel: 0002-two.patch" in text for text in said)
