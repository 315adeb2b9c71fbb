# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Up to 16 tokens, a token's result does not depend on the tokens beside it."""

import pytest
import torch
from ternary_ops import LAYERS, make_product, needs_gpu

pytestmark = [pytest.mark.gpu, needs_gpu]


@pytest.mark.parametrize("act_int8", [False, True])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
# Scales of groups have kernels, and plans, of their own where they are of the activations' type.
@pytest.mark.parametrize(
    ("group_size", "scale_bits"), [(-1, 32), (32, 32), (128, 32), (32, 16), (128, 16)]
)
# The last two are not in the table of measured plans.
@pytest.mark.parametrize("shape", [*LAYERS, (6144, 4096), (4096, 4096), (1040, 4096), (333, 1152)])
def test_batch_invariant(
    shape: tuple[int, int], group_size: int, scale_bits: int, dtype: torch.dtype, act_int8: bool
) -> None:
    scale_dtype = dtype if scale_bits == 16 else torch.float32
    whole = make_product(
        16, *shape, dtype=dtype, group_size=group_size, act_int8=act_int8, scale_dtype=scale_dtype
    )
    packed = whole.packed
    together = whole.run(packed)
    for count in (1, 2, 3, 4, 5, 8, 9, 15):
        assert torch.equal(whole.first(count).run(packed), together[:count])
