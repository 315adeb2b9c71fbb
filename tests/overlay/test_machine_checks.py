# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What a machine lacks is named with what to install, before anything is downloaded."""

from collections import namedtuple
from pathlib import Path

import pytest

from overlay import compiler
from overlay.errors import OverlayError

Version = namedtuple("Version", "major minor micro releaselevel serial")


def _program(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def _gcc(folder: Path, version: str) -> None:
    case = (
        f'case "$1" in -dumpfullversion) echo {version};; '
        f'*) echo "g++ {version}, Free Software Foundation"; esac'
    )
    _program(folder, "g++", case)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH of one folder, with a git and a g++ that are right."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    _program(tmp_path, "git", "exit 0")
    _gcc(tmp_path, "12.2.0")
    headers = tmp_path / "include"
    headers.mkdir()
    (headers / "Python.h").touch()
    monkeypatch.setattr(compiler, "python_include", lambda: headers)
    return tmp_path


def _fault() -> str:
    with pytest.raises(OverlayError) as caught:
        compiler.check_machine()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_right(path: Path) -> None:
    compiler.check_machine()


def test_aarch64(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert "linux on aarch64" in _fault()


@pytest.mark.parametrize("minor", [10, 15])
def test_python(minor: int, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.version_info", Version(3, minor, 0, "final", 0))
    assert "install Python 3.11 to 3.14" in _fault()


def test_python_headers(path: Path) -> None:
    (path / "include" / "Python.h").unlink()
    assert "Python's headers are missing" in _fault()


def test_git(path: Path) -> None:
    (path / "git").unlink()
    assert "git is not on PATH: install git" in _fault()


def test_no_compiler(path: Path) -> None:
    (path / "g++").unlink()
    assert _fault().startswith("g++ is not on PATH: install GCC's C++ compiler, 11.3 to 15")


def test_compiler_of_cxx_variable(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "g++-99")
    assert "CXX is g++-99, which is not on PATH" in _fault()


@pytest.mark.parametrize("version", ["9.4.0", "11.2.0", "16.1.0"])
def test_compiler_version(version: str, path: Path) -> None:
    _gcc(path, version)
    assert f"is GCC {version}, and 11.3 to 15 is needed" in _fault()


def test_other_compiler(path: Path) -> None:
    case = (
        'case "$1" in --version) echo "Debian clang version 18.1.0";; '
        '*) echo "clang++: error: unknown argument" >&2; exit 1; esac'
    )
    _program(path, "g++", case)
    assert "is not GCC: set CXX" in _fault()
