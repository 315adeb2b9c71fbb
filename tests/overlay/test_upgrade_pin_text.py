# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""New values go into pin.yaml's text; comments, order and quotes stay."""

import pytest

from overlay.errors import UsageError
from overlay.next_pin import rewrite

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
