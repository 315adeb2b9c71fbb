# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Ctrl-C while the tool's environment is made: one line, and the next run makes it anew."""

from pathlib import Path

import pytest

from overlay import bootstrap


def test_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def make(root: Path, venv: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(bootstrap, "_make", make)
    (tmp_path / "requirements.txt").write_text("one==1\n")
    with pytest.raises(SystemExit) as caught:
        bootstrap.ensure_venv(tmp_path)
    assert caught.value.code == 130
    assert capsys.readouterr().err == "error: interrupted\n"
    assert not (tmp_path / ".work" / "venv" / "complete").exists()
