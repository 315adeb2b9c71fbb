# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A NaN or infinity in a token shows in all of its outputs, and in no other token's."""

import pytest
import torch
from ternary_ops import make_product, needs_gpu

pytestmark = [pytest.mark.gpu, needs_gpu]


@pytest.mark.parametrize("act_int8", [False, True])
@pytest.mark.parametrize("m", [4, 40, 200])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_bad_activation_shows(value: float, m: int, act_int8: bool) -> None:
    product = make_product(m, 256, 512, act_int8=act_int8)
    product.x[2, 100] = value
    product.codes[:, 100] = 1
    finite = torch.isfinite(product.run()).all(dim=1)
    assert not finite[2]
    assert finite[:2].all()
    assert finite[3:].all()
