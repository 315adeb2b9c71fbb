# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A folder that --out lacks is found before anything is compiled."""

import sys

import pytest

from bench import kernel_resources


def test_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["kernel_resources.py", "--out", "nowhere/x.json"])
    with pytest.raises(SystemExit) as end:
        kernel_resources.main()
    assert end.value.code == 2
    assert capsys.readouterr().err.endswith("error: nowhere/x.json: there is no such folder\n")
