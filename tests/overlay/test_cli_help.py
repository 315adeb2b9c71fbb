# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""--help of each subcommand shows an example, and the example is right usage."""

from __future__ import annotations

import re
import shlex

import pytest

from overlay.cli import COMMANDS, main, parser


@pytest.mark.parametrize("command", COMMANDS)
def test_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    found = re.search(r"example: .*?\./apply_patches\.py ([^|>)]*)", text)
    assert found, text
    words = shlex.split(found[1], comments=True)
    assert words[0] == command
    parser().parse_args(words)
