# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""`verify` prints a line a fault and says by its exit code whether there is one."""

from pathlib import Path

import pytest
from fake_wheel import OURS, our_files, write_wheel

from overlay import cli
from overlay.errors import OverlayError


def _run(*paths: Path) -> int:
    args = cli.parser(("verify",)).parse_args(["verify", *map(str, paths)])
    return int(args.execute(args))


def test_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(write_wheel(tmp_path / OURS, our_files())) == 0
    assert "1.2.3+ternary.1, 1 patch, 7 files: right" in capsys.readouterr().out


def test_faults(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = our_files()
    files["vllm/new.py"] = b""
    files["vllm/old.py"] = b""
    assert _run(write_wheel(tmp_path / OURS, files)) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["vllm/new.py: differs from the manifest", "vllm/old.py: should be gone"]
    assert lines[2].endswith("2 faults")


def test_several(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each is verified, whatever the one before it was like; the worst exit code counts."""
    files = our_files()
    right = write_wheel(tmp_path / OURS, files)
    (tmp_path / "wrong").mkdir()
    wrong = write_wheel(tmp_path / "wrong" / OURS, {**files, "vllm/old.py": b""})
    missing = tmp_path / "missing" / OURS
    assert _run(right, right) == 0
    assert _run(wrong, right) == 1
    capsys.readouterr()
    assert _run(missing, wrong, right) == 2
    said = capsys.readouterr()
    assert said.err == f"error: {missing}: no such wheel or folder\n"
    assert said.out.splitlines()[:2] == ["vllm/old.py: should be gone", f"{wrong}: 1 fault"]
    assert said.out.splitlines()[2].startswith(f"{right}: ")


def test_a_fault_of_several_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(path: Path) -> None:
        raise OverlayError("git failed\n  command: git")

    monkeypatch.setattr("overlay.commands.verify.verify", fail)
    assert _run(tmp_path) == 1
    assert capsys.readouterr().err == "error: git failed   command: git\n"
