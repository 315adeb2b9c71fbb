# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""`verify` prints a line a fault and says by its exit code whether there is one."""

import argparse
from pathlib import Path

import pytest
from fake_wheel import OURS, our_files, write_wheel

from overlay.commands import verify


def _run(path: Path) -> int:
    parser = argparse.ArgumentParser()
    verify.configure_parser(parser.add_subparsers())
    args = parser.parse_args(["verify", str(path)])
    return int(args.execute(args))


def test_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(write_wheel(tmp_path / OURS, our_files())) == 0
    assert "1.2.3+ternary.1, 1 patches, 7 files: right" in capsys.readouterr().out


def test_faults(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = our_files()
    files["vllm/new.py"] = b""
    files["vllm/old.py"] = b""
    assert _run(write_wheel(tmp_path / OURS, files)) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["vllm/new.py: differs from the manifest", "vllm/old.py: should be gone"]
    assert lines[2].endswith("2 faults")
