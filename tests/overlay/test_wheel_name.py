# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A wheel's file name comes apart and goes together again."""

import pytest

from overlay.errors import OverlayError
from overlay.wheel import WheelName

NAME = "vllm-0.32.0+ternary.1-cp38-abi3-manylinux_2_34_x86_64.whl"


def test_parts() -> None:
    name = WheelName.parse(NAME)
    assert (name.version, name.platform) == ("0.32.0+ternary.1", "manylinux_2_34_x86_64")
    assert name.tag == "cp38-abi3-manylinux_2_34_x86_64"
    assert name.dist_info == "vllm-0.32.0+ternary.1.dist-info/"
    assert name.file == NAME


@pytest.mark.parametrize("name", ["vllm.tar.gz", "vllm-1.whl", "vllm-1-cp38-abi3-x.zip"])
def test_other_file(name: str) -> None:
    with pytest.raises(OverlayError, match="is not the name of a wheel"):
        WheelName.parse(name)
