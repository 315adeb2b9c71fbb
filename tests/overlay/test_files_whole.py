# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A file or folder that is not finished never gets its name."""

from pathlib import Path

import pytest

from overlay.files import whole_file, whole_folder


def test_file(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "file"
    with whole_file(target) as draft:
        draft.write_text("new")
        assert not target.exists()
    assert target.read_text() == "new"
    assert list(target.parent.iterdir()) == [target]


def test_file_cut_short(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_text("old")
    with pytest.raises(ZeroDivisionError), whole_file(target) as draft:
        draft.write_text("new")
        raise ZeroDivisionError
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_folder_cut_short(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), whole_folder(tmp_path / "folder") as draft:
        (draft / "file").touch()
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_folder_that_another_run_made_first(tmp_path: Path) -> None:
    target = tmp_path / "folder"
    with whole_folder(target) as draft:
        (draft / "mine").touch()
        target.mkdir()
        (target / "theirs").touch()
    assert [path.name for path in target.iterdir()] == ["theirs"]
    assert list(tmp_path.iterdir()) == [target]
