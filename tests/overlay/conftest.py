# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Fixtures of the tool's tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from killing import KILLS
from small_build import TOOLCHAIN, SmallBuild
from small_project import Project

from overlay import compiler


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A small project with an empty series; cache and home are its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return Project(tmp_path)


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallBuild:
    """A small project that wheels are built of; the cache is its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    monkeypatch.setattr(compiler, "prepare", lambda pin: TOOLCHAIN)
    return SmallBuild(tmp_path / "small")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many runs were killed, and of what."""
    if KILLS:
        each = ", ".join(f"{what} {count}" for what, count in KILLS.items())
        terminalreporter.write_line(f"killed with SIGKILL: {KILLS.total()} runs ({each})")
