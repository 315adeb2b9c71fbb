# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The real Marlin kernel with channelwise scales and int8 activations, against float64."""

import pytest

pytest.importorskip("vllm")

import torch
from marlin_emulation import INT8_LIMIT, checkpoint, relative_error

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU"),
]


@pytest.mark.parametrize(("n", "k"), [(17408, 5120), (1000, 1152)])
@pytest.mark.parametrize("asymmetric", [False, True])
def test_channelwise(n: int, k: int, asymmetric: bool) -> None:
    c = checkpoint(n, k, 1, negative=0.5, asymmetric=asymmetric, device="cuda")
    error = relative_error(c, torch.int8)
    print(f"{error:.4%}")
    assert error <= INT8_LIMIT
