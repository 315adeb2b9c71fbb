# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Every number of tokens is right, on both sides of each tile's and each kernel's limit."""

from collections.abc import Iterator

import pytest
import torch
from ternary_ops import LAYERS, assert_agrees, make_product, needs_gpu, reference

pytestmark = [pytest.mark.gpu, needs_gpu]

FEW = [*range(1, 71), 127, 128, 129, 255, 256, 257]
MANY = [512, 2047, 2048, 2049, 4096]
# N, K and the size of a group. But for 1040x1024, N is no multiple of 8, and K none of a unit, 128,
# where the groups allow it.
SMALL = [
    (1040, 1024, -1),
    (1533, 4104, -1),
    (333, 1000, -1),
    (1040, 1024, 128),
    (333, 1152, 128),
    (1029, 1280, 256),
    (333, 1216, 64),
    (203, 1184, 32),
]


@pytest.fixture(autouse=True)
def memory_given_back() -> Iterator[None]:
    """Other processes test on the same GPU."""
    yield
    torch.cuda.empty_cache()


def some_outputs(n: int) -> torch.Tensor:
    """All of a small layer; of a large one the first, the last, and one of each 16 at random."""
    if n <= 2048:
        return torch.arange(n, device="cuda")
    blocks = torch.arange(0, n, 16, device="cuda")
    inside = torch.randint(0, 16, blocks.shape, device="cuda")
    ends = torch.tensor([0, n - 1], device="cuda")
    return torch.cat([(blocks + inside).clamp(max=n - 1), ends])


def some_tokens() -> torch.Tensor:
    """The tokens of FEW, the last one of each of MANY, and some at random."""
    ends = torch.tensor(MANY, device="cuda") - 1
    others = torch.randint(max(FEW), max(MANY), (8,), device="cuda")
    return torch.cat([torch.arange(max(FEW), device="cuda"), ends, others])


@pytest.mark.parametrize("act_int8", [False, True])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
# In prefill, scales of groups in 16 bits, as a server has them, are multiplied into the weights;
# those in float32 multiply sums.
@pytest.mark.parametrize(
    ("n", "k", "group_size", "scale_bits"),
    [
        *((*small, 32) for small in SMALL),
        *((*small, 16) for small in SMALL if small[2] > 0),
        *((*shape, -1, 32) for shape in LAYERS),
        *((*shape, 128, 16) for shape in LAYERS),
        *((*shape, 64, 16) for shape in LAYERS[2:4]),
    ],
)
def test_every_token_count(
    n: int, k: int, group_size: int, scale_bits: int, dtype: torch.dtype, act_int8: bool
) -> None:
    """Of FEW tokens all outputs are held against float64.

    Of MANY some tokens with all outputs, and all tokens with some outputs: one of each row tile.
    """
    scale_dtype = dtype if scale_bits == 16 else torch.float32
    whole = make_product(
        max(MANY), n, k, dtype, group_size, act_int8=act_int8, scale_dtype=scale_dtype
    )
    packed = whole.packed
    tokens, outputs = some_tokens(), some_outputs(n)
    of_tokens = reference(whole.tokens(tokens))
    of_outputs = reference(whole.outputs(outputs))
    for count in FEW:
        result = whole.first(count).run(packed)
        assert result.dtype == dtype
        assert_agrees(result, *(value[:count] for value in of_tokens))
    for count in MANY:
        result = whole.first(count).run(packed)
        assert_agrees(result[:, outputs], *(value[:count] for value in of_outputs))
        there = tokens < count
        assert_agrees(result[tokens[there]], *(value[there] for value in of_tokens))


def test_no_tokens() -> None:
    product = make_product(0, 64, 256)
    assert product.run().shape == (0, 64)
    assert product.run().dtype == torch.bfloat16
