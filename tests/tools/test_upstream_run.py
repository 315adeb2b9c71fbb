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
import pytest
def test_good(): assert not __import__("pathlib").Path("vllm").exists()
def test_bad(): assert False
@pytest.mark.skip
def test_skipped(): pass
@pytest.fixture
def broken(): raise OSError
def test_error(broken): pass
"""
OUTCOMES = {
    "tests.test_small::test_good": "passed",
    "tests.test_small::test_bad": "failed",
    "tests.test_small::test_skipped": "skipped",
    "tests.test_small::test_error": "error",
}


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("upstream_run", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "FILES", ["tests/test_small.py"])
    return module


@pytest.fixture
def sdist(tmp_path: Path) -> Path:
    """A source distribution whose vllm/ must not be imported instead of the installed one."""
    path = tmp_path / "vllm-1.tar.gz"
    files = {"tests/test_small.py": TESTS, "pyproject.toml": "", "vllm/__init__.py": "1/0"}
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"vllm-1/{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


def test_outcomes(
    monkeypatch: pytest.MonkeyPatch, script: ModuleType, sdist: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.json"
    monkeypatch.setattr(sys, "argv", ["run.py", "--source", str(sdist), "--out", str(out)])
    assert script.main() == 0
    result = json.loads(out.read_text())
    assert result["tests"] == OUTCOMES
    assert result["counts"] == {"error": 1, "failed": 1, "passed": 1, "skipped": 1}


def test_no_report_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    script: ModuleType,
    sdist: Path,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(script, "FILES", ["tests/test_missing.py"])
    out = tmp_path / "out.json"
    monkeypatch.setattr(sys, "argv", ["run.py", "--source", str(sdist), "--out", str(out)])
    assert script.main() == 2
    assert "error: pytest ended with code" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize(
    ("after", "code", "named"),
    [
        ({"a": "passed", "b": "passed"}, 0, ""),
        ({"a": "failed", "b": "failed"}, 1, "passed before, failed now: a"),
        ({"a": "skipped", "b": "failed"}, 1, "passed before, skipped now: a"),
        ({"b": "failed"}, 1, "passed before, missing now: a"),
    ],
    ids=["better", "worse", "skipped", "missing"],
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
    for name, tests in (("before", {"a": "passed", "b": "failed"}), ("after", after)):
        files.append(tmp_path / f"{name}.json")
        files[-1].write_text(json.dumps({"counts": {}, "tests": tests}))
    assert script.compare(*files) == code
    assert named in capsys.readouterr().out
