# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Upstream's tests run from a source distribution, and what passed before must pass after."""

import importlib.util
import io
import json
import sys
import tarfile
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[1] / "upstream" / "run.py"
TESTS = """
import os
import pytest
def test_good(): assert not __import__("pathlib").Path("vllm").exists()
def test_bad(): assert False
@pytest.mark.skip
def test_skipped(): pass
@pytest.fixture
def broken(): raise OSError
def test_error(broken): pass
"""
# Ends pytest at once, as a time limit would, in the middle of the tests.
CUT = (
    TESTS
    + """
def test_cut():
    if "CUT" in os.environ: os._exit(1)
def test_after(): pass
"""
)
OUTCOMES = {
    "tests/test_small.py::test_good": "passed",
    "tests/test_small.py::test_bad": "failed",
    "tests/test_small.py::test_skipped": "skipped",
    "tests/test_small.py::test_error": "error",
}
REST = ["tests/test_small.py::test_cut", "tests/test_small.py::test_after"]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("upstream_run", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "FILES", ["tests/test_small.py"])
    return module


def sdist(folder: Path, tests: str) -> Path:
    """A source distribution whose vllm/ must not be imported instead of the installed one."""
    path = folder / "vllm-1.tar.gz"
    files = {"tests/test_small.py": tests, "pyproject.toml": "", "vllm/__init__.py": "1/0"}
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"vllm-1/{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


def start(script: ModuleType, monkeypatch: pytest.MonkeyPatch, *args: str) -> int:
    monkeypatch.setattr(sys, "argv", ["run.py", *args])
    code: int = script.main()
    return code


def test_outcomes(monkeypatch: pytest.MonkeyPatch, script: ModuleType, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert (
        start(script, monkeypatch, "--source", str(sdist(tmp_path, TESTS)), "--out", str(out)) == 0
    )
    assert script.read(out) == (OUTCOMES, [])


def test_cut_run(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    script: ModuleType,
    tmp_path: Path,
) -> None:
    args = ["--source", str(sdist(tmp_path, CUT)), "--out", str(tmp_path / "out.jsonl")]
    monkeypatch.setenv("CUT", "1")
    start(script, monkeypatch, *args)
    assert script.read(tmp_path / "out.jsonl") == (OUTCOMES, REST)
    assert "2 not run" in capsys.readouterr().out
    monkeypatch.delenv("CUT")
    assert start(script, monkeypatch, *args, "--rest") == 0
    assert script.read(tmp_path / "out.jsonl") == (OUTCOMES | dict.fromkeys(REST, "passed"), [])
    assert start(script, monkeypatch, *args, "--rest") == 0  # nothing is left


def test_tests_that_do_not_run(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    script: ModuleType,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(script, "FILES", ["tests/test_missing.py"])
    args = ["--source", str(sdist(tmp_path, TESTS)), "--out", str(tmp_path / "out.jsonl")]
    assert start(script, monkeypatch, *args) == 2
    assert "error: pytest ended with code" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("after", "code", "named"),
    [
        ({"a": "passed", "b[1]": "passed"}, 0, "after.jsonl: {'passed': 2}"),
        ({"a": "failed", "b[1]": "failed"}, 1, "passed before, failed now: a"),
        ({"a": "skipped", "b[1]": "failed"}, 1, "passed before, skipped now: a"),
        ({"b[1]": "failed"}, 2, "not run in after.jsonl: 1 of a"),
        ({"a": "passed"}, 2, "not run in after.jsonl: 1 of b"),
        ({"a": "passed", "b[1]": "failed", "c": "failed"}, 2, "not run in before.jsonl: 1 of c"),
    ],
    ids=["better", "worse", "skipped", "passed-missing", "failed-missing", "more"],
)
def test_compare(
    capsys: pytest.CaptureFixture[str],
    script: ModuleType,
    tmp_path: Path,
    after: dict[str, str],
    code: int,
    named: str,
) -> None:
    files = []
    for name, tests in (("before", {"a": "passed", "b[1]": "failed"}), ("after", after)):
        files.append(tmp_path / f"{name}.jsonl")
        lines = [{"test": test, "outcome": outcome} for test, outcome in tests.items()]
        files[-1].write_text("\n".join(map(json.dumps, lines)))
    assert script.compare(*files) == code
    assert named in capsys.readouterr().out


def test_compare_without_outcomes(
    monkeypatch: pytest.MonkeyPatch, script: ModuleType, tmp_path: Path
) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    assert start(script, monkeypatch, "--compare", *[str(tmp_path / "empty.jsonl")] * 2) == 2
