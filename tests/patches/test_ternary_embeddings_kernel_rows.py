# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""On a GPU, rows are read out of the weight as the kernel has it packed.

Without a GPU, the packed layout is written out by the tests.
"""

import pytest

pytest.importorskip("vllm")

import torch
from ternary_embeddings import fill, rows_of, tied
from ternary_layers import (
    assert_product,
    dequantize,
    make_config,
    random_codes,
    random_input,
    random_scale,
)
from ternary_stand_in import kernel_pack, use_stand_in
from vllm import _custom_ops as ops
from vllm.model_executor.layers.quantization.utils.ternary_utils import unpack_kernel_rows


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    use_stand_in(monkeypatch)


@pytest.mark.parametrize("shape", [(16, 128), (1, 8), (33, 200), (100, 1000)])
def test_rows_of_the_packed_weight(device: str, shape: tuple[int, int]) -> None:
    codes = random_codes(*shape)
    packed = ops.ternary_pack(codes.cuda()) if device == "cuda" else kernel_pack(codes)
    rows = torch.arange(shape[0]).flip(0)

    unpacked = unpack_kernel_rows(packed, rows, shape[1])

    assert torch.equal(unpacked.cpu(), codes.flip(0).int())


@pytest.mark.usefixtures("tensor_parallel", "kernel")
@pytest.mark.parametrize(
    ("size_k", "group_size", "groups"),
    [(128, 64, 2), (128, 128, 1), (256, 128, 2), (30, -1, 1), (128, 0, 0)],
)
@pytest.mark.parametrize("packed", [False, True], ids=["int8", "packed"])
def test_one_packed_copy_gives_rows_and_logits(
    size_k: int, group_size: int, groups: int, packed: bool
) -> None:
    codes = random_codes(100, size_k)
    scale = random_scale(100, groups) if groups else random_scale(1)
    config = make_config(
        group_size=group_size, embeddings=True, format="packed" if packed else "int8"
    )
    embed_tokens, head = tied(config, 100, size_k)
    fill(embed_tokens, codes, scale, packed)
    ids, x = torch.tensor([[99, 0, 98], [15, 16, 17]]), random_input(5, size_k)

    assert torch.equal(embed_tokens(ids), rows_of(codes, scale, ids))
    assert embed_tokens(ids[:, :0]).shape == (2, 0, size_k)
    logits = head.quant_method.apply(head, x)
    assert_product(logits[:, :100], x, dequantize(codes, scale))
    assert not logits[:, 100:].any()
    held = [*embed_tokens.parameters(), *head.parameters()]
    packed_bytes = 128 // 4 * -(-size_k // 128) * 128
    assert sum(param.nbytes for param in held) == packed_bytes + 128 * 4 * max(groups, 1)
