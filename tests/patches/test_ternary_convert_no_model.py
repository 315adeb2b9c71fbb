# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""inspect of what is no model at all is an error, and no verdict about a model."""

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
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_it_is_an_error(
    files: dict[str, str],
    name: str,
    message: str,
    options: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from vllm.ternary.cli import main

    for file, text in files.items():
        (tmp_path / file).write_text(text)
    assert main(["inspect", str(tmp_path / name), *options]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("vllm-ternary: error: ") and printed.err.count("\n") == 1
    assert message in printed.err
