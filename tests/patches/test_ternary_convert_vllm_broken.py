# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Where vLLM cannot be imported, inspect says in a line what failed, beside what it found."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("vllm")

from ternary_directories import convert, ternary_values, write_model

REGISTRY = "vllm.model_executor.models.registry"


class Broken:
    """Finds the registry, and fails as packages do that were not built for each other."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == REGISTRY:
            raise RuntimeError("operator torchvision::nms does not exist\nand more")


def test_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from vllm.ternary.cli import main

    convert(write_model(tmp_path / "source", ternary_values()), tmp_path / "result")
    capsys.readouterr()
    monkeypatch.delitem(sys.modules, REGISTRY, raising=False)
    monkeypatch.setattr(sys, "meta_path", [Broken(), *sys.meta_path])
    assert main(["inspect", str(tmp_path / "result")]) == 1
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert printed.err == ""
    assert lines[-2:] == [
        "served as ternary: no",
        "  vLLM cannot be imported here: RuntimeError: operator torchvision::nms does not exist",
    ]
    assert any(line.startswith("format:") and line.endswith("ternary, packed") for line in lines)
