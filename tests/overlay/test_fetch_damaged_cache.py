# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A cached file that was damaged is not used: it is fetched again, or its absence is said."""

import pytest
from small_project import Project

from overlay.errors import OverlayError
from overlay.fetch import fetch
from overlay.paths import cache_dir


def test_it_is_not_used(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    artifact = project.pin.sdist
    path = cache_dir() / artifact.sha256 / artifact.file
    path.write_bytes(path.read_bytes()[:-1])
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(project.root))
    with pytest.raises(OverlayError, match=r"vllm-0\.32\.0\.tar\.gz: pip finds no"):
        fetch(artifact)
