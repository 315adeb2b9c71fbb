# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""New values go into pin.yaml's text, and the version before; comments, order and quotes stay."""

import pytest

from overlay.errors import UsageError
from overlay.next_pin import remember, rewrite
from overlay.pin import Artifact

TEXT = """\
# The pin, 0.32.0 for now.
release: 3  # N of 0.32.0+ternary.N

vllm:
  version: 0.32.0
  sdist:
    # The source.
    file: vllm-0.32.0.tar.gz
versions:
  0.33.0:
    sdist:
      file: vllm-0.33.0.tar.gz
torch:
  version: '2.13.0' # quoted
"""


def test_only_the_values() -> None:
    values = {"release": "1", "vllm.version": "0.33.0", "vllm.sdist.file": "x.tar.gz"}
    changed = rewrite(TEXT, {**values, "torch.version": "2.14.0"})
    pairs = zip(TEXT.splitlines(), changed.splitlines(), strict=True)
    assert [new for old, new in pairs if old != new] == [
        "release: 1  # N of 0.33.0+ternary.N",
        "  version: 0.33.0",
        "    file: x.tar.gz",
        "  version: '2.14.0' # quoted",
    ]


def test_no_such_key() -> None:
    with pytest.raises(UsageError, match=r"vllm\.tag: has no line of its own"):
        rewrite(TEXT, {"vllm.tag": "v1"})


@pytest.mark.parametrize(
    ("version", "name", "before"),
    [
        ("0.32.0", "0.32.0", "  0.33.0:\n"),
        ("0.34.0", "0.34.0", "torch:\n"),
        # Without quotes it is a number to YAML.
        ("0.4", '"0.4"', "  0.33.0:\n"),
    ],
)
def test_a_version_takes_its_place(version: str, name: str, before: str) -> None:
    old = Artifact("vllm", version, f"vllm-{version}.tar.gz", "a" * 64)
    entry = f"  {name}:\n    sdist:\n      file: {old.file}\n      sha256: {old.sha256}\n"
    assert remember(TEXT, old) == TEXT.replace(before, entry + before)


def test_a_version_that_is_listed() -> None:
    assert remember(TEXT, Artifact("vllm", "0.33.0", "other.tar.gz", "a" * 64)) == TEXT


def test_no_list_of_versions() -> None:
    text = TEXT.replace("versions:", "others:")
    assert remember(text, Artifact("vllm", "0.32.0", "vllm-0.32.0.tar.gz", "a" * 64)) == text
