# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A build that would give a wrong wheel stops with one line and leaves dist/ as it was."""

import shutil
from collections import namedtuple

import pytest
from small_build import SmallBuild

from overlay import verify
from overlay.errors import OverlayError

Usage = namedtuple("Usage", "total used free")


def _refusal(project: SmallBuild) -> str:
    with pytest.raises(OverlayError) as caught:
        project.build()
    assert not project.dist.exists()
    assert not list(project.workspace.work.glob("build/*.whl"))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_source_of_an_official_binary(small: SmallBuild) -> None:
    small.add_patch("good", {"vllm/__init__.py": "import sys\n"})
    file = small.add_patch("fast", {"csrc/torch_bindings.cpp": "int faster;\n"})
    text = _refusal(small)
    assert text.startswith(f"{file}: csrc/torch_bindings.cpp is in the off")
    assert "--full" in text


def test_change_that_a_later_patch_takes_back(small: SmallBuild) -> None:
    small.add_patch("there", {"csrc/torch_bindings.cpp": "int faster;\n"})
    small.add_patch("back", {"csrc/torch_bindings.cpp": "int main;\n"})
    assert "0001-there.patch: csrc/torch_bindings.cpp" in _refusal(small)


def test_official_file_is_not_the_sources(small: SmallBuild) -> None:
    small.set_official({"vllm/__init__.py": b"other\n", "vllm/old.py": b"OLD = 1\n"})
    small.add_patch("change", {"vllm/__init__.py": "import sys\n"})
    assert _refusal(small).startswith("vllm/__init__.py: the official wheel's file is not the pin")


def test_new_file_that_the_official_wheel_has(small: SmallBuild) -> None:
    small.set_official({"vllm/made.py": b"made by the build\n"})
    small.add_patch("change", {"vllm/made.py": "mine\n"})
    assert _refusal(small).startswith("vllm/made.py: the official wheel's file is not the pinned")


def test_commits_that_are_not_exported(small: SmallBuild) -> None:
    small.add_patch("change", {"vllm/__init__.py": "import sys\n"})
    small.apply()
    (small.tree / "vllm/old.py").write_text("OLD = 2\n")
    small.git("commit", "-q", "-a", "-m", "mine")
    assert "./apply_patches.py export" in _refusal(small)


def test_disk_full(small: SmallBuild, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**12, 10**12 - 10**8, 10**8))
    assert "0.1 GB are free on its disk and 2.5 GB are needed: make room there" in _refusal(small)


def test_wheel_that_does_not_verify(
    small: SmallBuild,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    report = verify.Report(faults=["vllm/x.py: differs", "vllm/y.py: missing"])
    monkeypatch.setattr(verify, "verify", lambda path: report)
    assert _refusal(small) == "the wheel is not right: vllm/x.py: differs; vllm/y.py: missing"
