# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A pin that lacks a key, or has a wrong value, is refused by the key's name."""

from pathlib import Path

import pytest

from overlay.errors import UsageError
from overlay.paths import ROOT
from overlay.pin import load_pin


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("release: 1", "release: 0", "release: a number from 1 up"),
        ("  tag: v0.32.0\n", "", "vllm.tag is missing"),
        ('cuda: "13.0"', "cuda: 13.0", "compiler.cuda: not right: 13.0"),
        ("commit: 5df63a720", "commit: main", "vllm.commit: not right"),
        ("sha256: d2c957d5", "sha256: D2", "vllm.sdist.sha256: not right"),
        ("sha256: f4c33c25", "sha256: f4", "versions: 0.33.0: sdist.sha256: not right"),
        ("  0.33.0:", "  0.33:", "versions: not a version in quotes: 0.33"),
        ("vllm:\n", "vllm: [\n", "not YAML"),
    ],
)
def test_key_is_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    text = (ROOT / "pin.yaml").read_text()
    assert old in text
    path = tmp_path / "pin.yaml"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(UsageError, match=r"pin\.yaml: ") as caught:
        load_pin(path)
    assert words in str(caught.value)
