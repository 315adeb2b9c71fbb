# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The same input gives the same bytes, whenever and under whatever umask."""

import os
import zipfile
from pathlib import Path

import pytest
from fake_wheel import OURS, write_official

from overlay.errors import OverlayError
from overlay.wheel import WheelName, WheelWriter


def _write(tmp_path: Path, name: str) -> Path:
    return WheelWriter(write_official(tmp_path), WheelName.parse(OURS)).write(
        tmp_path / name, {"vllm/b.py": b"1\n", "vllm/a.py": b"2\n"}, []
    )


def test_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = _write(tmp_path, "first").read_bytes()
    monkeypatch.setattr("time.time", lambda: 2e9)
    old = os.umask(0o077)
    try:
        assert _write(tmp_path, "second").read_bytes() == first
    finally:
        os.umask(old)


def test_source_date_epoch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "946684800")
    with zipfile.ZipFile(_write(tmp_path, "dist")) as archive:
        assert archive.getinfo("vllm/a.py").date_time == (2000, 1, 1, 0, 0, 0)
        assert archive.getinfo("vllm/run.sh").date_time == (2026, 10, 17, 21, 27, 52)


@pytest.mark.parametrize("text", ["yesterday", "-1", "0", "9999999999", "9" * 19])
def test_source_date_epoch_that_is_none(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", text)
    with pytest.raises(OverlayError, match=f"SOURCE_DATE_EPOCH is '?{text}'?:"):
        _write(tmp_path, "dist")
    assert not list((tmp_path / "dist").iterdir())
