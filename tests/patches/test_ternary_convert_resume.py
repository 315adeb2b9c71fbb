# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A conversion that is killed goes on where it stopped, and ends with the same bytes."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytest.importorskip("vllm")

from ternary_directories import convert, dense, write_model

# Forks a conversion for each point, so that PyTorch is imported once. What kills it counts
# the writes, syncs and renames that it makes.
SCRIPT = """
import os, signal, sys
from pathlib import Path
import torch
torch.set_num_threads(1)
from vllm.ternary import cli, convert, writer

source, folder, options = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]

def run(destination, kill_at):
    count = 0
    def counted(function, name):
        def call(*arguments, **keywords):
            nonlocal count
            count += 1
            if count == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **keywords)
        return call
    child = os.fork()
    if child == 0:
        writer._SYNC_EVERY = 1 << 12
        writer.write_all = counted(writer.write_all, "write")
        os.fsync = counted(os.fsync, "fsync")
        os.rename = counted(os.rename, "rename")
        writer.shutil.copyfile = counted(writer.shutil.copyfile, "copy")
        code = cli.main(["convert", source, str(destination), *options])
        with open(folder / "count", "w") as file:
            file.write(str(count))
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

assert run(folder / "whole", 0) == 0
total = int((folder / "count").read_text())
points = sorted({1, 2, 3, total - 3, total - 2, total - 1, total,
                 *range(5, total, max(total // 8, 1))})
names = sorted(file.name for file in (folder / "whole").iterdir())
for point in points:
    destination = folder / f"killed-{point}"
    partial = folder / f"killed-{point}.partial"
    assert run(destination, point) == -signal.SIGKILL, point
    if destination.exists():
        # At most the journal was left to remove.
        (destination / writer.JOURNAL).unlink(missing_ok=True)
    else:
        assert partial.exists(), point
        # A second kill, then to the end.
        run(destination, 5)
        if not destination.exists():
            assert run(destination, 0) == 0, point
    assert sorted(file.name for file in destination.iterdir()) == names, point
    for name in names:
        same = (folder / "whole" / name).read_bytes() == (destination / name).read_bytes()
        assert same, (point, name)
    assert not partial.exists(), point
print(len(points), "points of", total)
"""


@pytest.mark.parametrize("options", [["--shard-size", "20KB"], []])
def test_killed_at_any_point(options: list[str], tmp_path: Path) -> None:
    source = write_model(tmp_path / "source", dense())
    script = tmp_path / "kill.py"
    script.write_text(textwrap.dedent(SCRIPT))
    done = subprocess.run(
        [sys.executable, script, source, tmp_path, *options],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert " points of " in done.stdout


def test_what_is_done_is_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from vllm.ternary.sources.dense import DenseMatrix

    source = write_model(tmp_path / "source", dense())
    asked: list[str] = []
    codes = DenseMatrix.codes

    def interrupted(self: DenseMatrix, start: int, stop: int) -> object:
        asked.append(self.name)
        if len(asked) == 6:
            raise KeyboardInterrupt
        return codes(self, start, stop)

    monkeypatch.setattr("vllm.ternary.writer._SYNC_EVERY", 1)
    monkeypatch.setattr(DenseMatrix, "codes", interrupted)
    assert convert(source, tmp_path / "result") == 130
    first = asked[:5]
    assert convert(source, tmp_path / "result") == 0
    assert not set(asked[6:]) & set(first)
    assert len(asked[6:]) == 14 - len(first)


@pytest.mark.parametrize("options", [["--shard-size", "20KB"], []], ids=["shards", "one file"])
@pytest.mark.parametrize("loss", ["removed", "cut off"])
@pytest.mark.parametrize("name", ["codes", "finish"])
def test_what_is_lost_is_made_again(
    name: str, loss: str, options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vllm.ternary.sources.dense import DenseMatrix
    from vllm.ternary.writer import Writer

    source = write_model(tmp_path / "source", dense())
    assert convert(source, tmp_path / "whole", *options) == 0
    asked = 0
    codes = DenseMatrix.codes

    def interrupted(self: DenseMatrix, start: int, stop: int) -> object:
        nonlocal asked
        asked += 1
        if asked == 10:
            raise KeyboardInterrupt
        return codes(self, start, stop)

    with monkeypatch.context() as patch:
        patch.setattr("vllm.ternary.writer._SYNC_EVERY", 1)
        if name == "codes":
            patch.setattr(DenseMatrix, "codes", interrupted)
        else:
            patch.setattr(Writer, "finish", interrupt)
        assert convert(source, tmp_path / "result", *options) == 130
    file = sorted((tmp_path / "result.partial").glob("*.safetensors"))[0]
    if loss == "removed":
        file.unlink()
    else:
        os.truncate(file, file.stat().st_size // 2)
    assert convert(source, tmp_path / "result", *options) == 0
    for path in (tmp_path / "whole").iterdir():
        assert path.read_bytes() == (tmp_path / "result" / path.name).read_bytes(), path.name


def test_a_file_of_another_size_is_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from vllm.ternary.writer import Writer

    source = write_model(tmp_path / "source", dense())
    finish = Writer.finish

    def changed(self: Writer, *arguments: object) -> None:
        os.truncate(self.partial / "model.safetensors", 9000)
        finish(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Writer, "finish", changed)
    assert convert(source, tmp_path / "result") == 1
    assert "model.safetensors has 9000 bytes instead of" in capsys.readouterr().err
    assert not (tmp_path / "result").exists()


@pytest.mark.parametrize("change", ["source", "options"])
def test_another_conversion_is_not_taken_up(
    change: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = write_model(tmp_path / "source", dense())
    monkeypatch.setattr("vllm.ternary.writer.Writer.finish", interrupt)
    assert convert(source, tmp_path / "result") == 130
    options: list[str] = []
    if change == "source":
        (source / "model.safetensors").touch()
    else:
        options = ["--rule", "twn"]
    assert convert(source, tmp_path / "result", *options) == 1
    assert "another source or other options" in capsys.readouterr().err


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_two_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from vllm.ternary.writer import Writer

    source = write_model(tmp_path / "source", dense())
    finish = Writer.finish

    def convert_again(self: Writer, *arguments: object) -> None:
        monkeypatch.undo()
        assert convert(source, tmp_path / "result") == 1
        finish(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Writer, "finish", convert_again)
    assert convert(source, tmp_path / "result") == 0
    assert "another conversion is writing" in capsys.readouterr().err
