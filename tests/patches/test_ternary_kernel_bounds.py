# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What lies beside an argument does not matter: NaN around all of them changes nothing."""

import pytest
import torch
from ternary_ops import assert_exact, make_product, needs_gpu

pytestmark = [pytest.mark.gpu, needs_gpu]

GUARD = 4096


def surrounded(tensor: torch.Tensor, fill: float) -> torch.Tensor:
    """A copy of the tensor in the middle of memory filled with `fill`."""
    memory = torch.full((tensor.numel() + 2 * GUARD,), fill, device="cuda", dtype=tensor.dtype)
    inside = memory[GUARD : GUARD + tensor.numel()].view(tensor.shape)
    inside.copy_(tensor)
    return inside


@pytest.mark.parametrize("act_int8", [False, True])
@pytest.mark.parametrize("group_size", [-1, 32])
@pytest.mark.parametrize("m", [1, 3, 16, 30, 130])
def test_surroundings_do_not_matter(m: int, group_size: int, act_int8: bool) -> None:
    plain = make_product(m, 203, 1184, group_size=group_size, act_int8=act_int8, bias=True)
    assert plain.bias is not None
    nan = float("nan")
    product = type(plain)(
        x=surrounded(plain.x, nan),
        codes=plain.codes,
        scale=surrounded(plain.scale, nan),
        bias=surrounded(plain.bias, nan),
        group_size=group_size,
        act_int8=act_int8,
    )
    packed = surrounded(plain.packed, 0x55555555)
    assert_exact(product.run(packed), plain)
