# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A package that pip does not find for the tool's environment: it may be the network."""

from pathlib import Path

import pytest

from overlay import bootstrap


def test_network_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    (tmp_path / "requirements.txt").write_text("nowhere==1\n")
    with pytest.raises(SystemExit, match=r"found for nowhere==1: is there a network, and do "):
        bootstrap.ensure_venv(tmp_path)
