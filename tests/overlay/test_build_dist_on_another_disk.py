# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Where dist/ is on another disk the wheel is copied, and gets its name when it is whole."""

import errno
import os
import shutil

import pytest
from small_build import SmallBuild


def test_name_comes_last(small: SmallBuild, monkeypatch: pytest.MonkeyPatch) -> None:
    small.add_patch("change", {"vllm/__init__.py": "import sys\n"})
    copy = shutil.copyfile
    copied = []

    def other_disk(source: object, target: object, **options: object) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    def watched(source: str, target: str, **options: bool) -> str:
        result = copy(source, target, **options)
        copied.append(target)
        assert not list(small.dist.glob("*.whl"))
        return result

    small.apply()
    monkeypatch.setattr(os, "rename", other_disk)
    monkeypatch.setattr(shutil, "copyfile", watched)
    wheel = small.build()[0]
    assert copied
    assert list(small.dist.iterdir()) == [wheel]
