# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A pin that lacks a key, or has a wrong value, is refused by the key's name."""

import re
from pathlib import Path

import pytest

from overlay.errors import UsageError
from overlay.paths import ROOT
from overlay.pin import load_pin


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (r"release: \d+", "release: 0", "release: a number from 1 up"),
        (r"  tag: .*\n", "", "vllm.tag is missing"),
        (r'cuda: "(\S+)"', r"cuda: \1", "compiler.cuda: not right: "),
        (r"commit: \w+", "commit: main", "vllm.commit: not right"),
        (r"sha256: \w{8}", "sha256: D2", "vllm.sdist.sha256: not right"),
        (r"(  0\.33\.0:(?:\n .*){2}\n +sha256:) \w+", r"\1 f4",
         "versions: 0.33.0: sdist.sha256: not right"),
        (r"  0\.33\.0:", "  0.33:", "versions: not a version in quotes: 0.33"),
        (r"vllm:\n", "vllm: [\n", "not YAML"),
    ],
)  # fmt: skip
def test_key_is_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    text, count = re.subn(old, new, (ROOT / "pin.yaml").read_text(), count=1)
    assert count == 1
    path = tmp_path / "pin.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"pin\.yaml: ") as caught:
        load_pin(path)
    assert words in str(caught.value)
