# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A download that is wrong or cannot be had is refused with one line; the cache keeps nothing."""

import pytest
from small_project import Project, sdist
from test_fetch_through_pip import SOURCE, offered

from overlay.errors import OverlayError
from overlay.fetch import fetch
from overlay.paths import cache_dir
from overlay.pin import Artifact

WANTED = Artifact("vllm", "0.32.0", "vllm-0.32.0.tar.gz", "1" * 64)


def refusal() -> str:
    before = sorted(cache_dir().rglob("*"))
    with pytest.raises(OverlayError) as caught:
        fetch(WANTED)
    assert sorted(set(cache_dir().rglob("*")) - {cache_dir() / "lock"}) == before
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_wrong_hash(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    offered(project, monkeypatch, sdist(SOURCE))
    message = refusal()
    assert message.startswith("vllm-0.32.0.tar.gz: ")
    assert WANTED.sha256 in message


def test_nothing_there(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    offered(project, monkeypatch, b"")
    (project.root / "shelf" / "vllm-0.32.0.tar.gz").unlink()
    assert "pip finds no vllm 0.32.0" in refusal()


def test_not_an_archive(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    offered(project, monkeypatch, b"<html>a proxy's log-in page</html>")
    assert WANTED.sha256 in refusal()
