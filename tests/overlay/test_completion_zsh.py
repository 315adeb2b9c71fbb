# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The zsh script is zsh, and knows every subcommand."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from overlay.cli import COMMANDS, main


def test_script(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "zsh"]) == 0
    script = capsys.readouterr().out
    assert script.startswith("#compdef apply_patches.py\n")
    for command in COMMANDS:
        assert f"\n    {command}:'" in script
    if (zsh := shutil.which("zsh")) is None:
        pytest.skip("the text is right; no zsh here to read it")
    subprocess.run([zsh, "-n"], input=script, text=True, check=True)
