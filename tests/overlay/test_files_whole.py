# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A file or folder that is not finished never gets its name."""

from pathlib import Path

import pytest

from overlay.files import make_folder, whole_file


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


def test_folder(tmp_path: Path) -> None:
    target = tmp_path / "folder"
    make_folder(target, lambda draft: (draft / "file").touch())
    make_folder(target, lambda draft: (draft / "again").touch())
    assert [path.name for path in target.iterdir()] == ["file"]


def test_folder_cut_short(tmp_path: Path) -> None:
    def fail(draft: Path) -> None:
        (draft / "file").touch()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        make_folder(tmp_path / "folder", fail)
    assert [path.name for path in tmp_path.iterdir()] == [".folder.lock"]


def test_folder_left_by_a_kill(tmp_path: Path) -> None:
    left = tmp_path / ".folder.part"
    left.mkdir()
    (left / "half").touch()
    make_folder(tmp_path / "folder", lambda draft: (draft / "file").touch())
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["file"]
    assert not left.exists()
