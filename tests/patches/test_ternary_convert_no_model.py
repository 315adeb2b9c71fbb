# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What is no model at all is an error of the arguments, of the same form in both commands."""

import json
from pathlib import Path

import pytest

pytest.importorskip("vllm")

from ternary_directories import CONFIG


@pytest.mark.parametrize(
    ("files", "name", "message"),
    [
        ({}, "nowhere", "nowhere does not exist"),
        ({"notes.txt": ""}, "notes.txt", "notes.txt is not a directory"),
        ({"notes.txt": ""}, "", "is not a model: it has no config.json"),
        ({"config.json": json.dumps(CONFIG)}, "", "has no safetensors files"),
    ],
    ids=["nothing", "a file", "a folder", "a model without weights"],
)
@pytest.mark.parametrize(
    ("command", "options"),
    [("inspect", []), ("inspect", ["--json"]), ("convert", ["DST"])],
    ids=["inspect", "inspect as JSON", "convert"],
)
def test_it_is_an_error(
    files: dict[str, str],
    name: str,
    message: str,
    command: str,
    options: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from vllm.ternary.cli import main

    for file, text in files.items():
        (tmp_path / file).write_text(text)
    monkeypatch.chdir(tmp_path)
    assert main([command, str(tmp_path / name), *options]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("vllm-ternary: error: ") and printed.err.count("\n") == 1
    assert message in printed.err
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(files)


@pytest.mark.parametrize("command", ["inspect", "convert"])
def test_help_has_the_exit_codes(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from vllm.ternary.cli import main

    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if "exit codes: " in line]
    assert len(lines) == 1
    assert "; 2 wrong arguments, or no model" in lines[0]
