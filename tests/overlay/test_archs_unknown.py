# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""`--archs` names what it does not know, and what there is."""

import pytest

from overlay.archs import parse
from overlay.errors import UsageError


@pytest.mark.parametrize("name", ["7.5", "8.7", "sm_80", "90a", "12.0PTX", "8.0+ptx", "11.0"])
def test_without_kernels(name: str) -> None:
    with pytest.raises(UsageError, match=r"no such architecture; there are 8\.0 8\.6") as caught:
        parse(f"8.0,{name}")
    assert f" {name}:" in str(caught.value)


def test_ptx_that_no_other_gpu_can_use() -> None:
    with pytest.raises(UsageError, match=r"9\.0a\+PTX: .* runs on no later GPU"):
        parse("9.0a+PTX")


@pytest.mark.parametrize("text", ["", " , "])
def test_empty(text: str) -> None:
    with pytest.raises(UsageError, match="no architecture given"):
        parse(text)
