# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A lookup gives the rows of the dequantized embedding, to the last bit."""

import pytest

pytest.importorskip("vllm")

import torch
from ternary_embeddings import embedding, fill, rows_of
from ternary_layers import TensorParallel, make_config, random_codes, random_scale
from vllm.model_executor.layers.vocab_parallel_embedding import UnquantizedEmbeddingMethod

VOCABULARY, SIZE_K = 100, 128
SCALES = {0: (1,), -1: (VOCABULARY, 1), 64: (VOCABULARY, 2), 128: (VOCABULARY, 1)}


@pytest.mark.parametrize("group_size", [None, *SCALES])
@pytest.mark.parametrize("packed", [False, True], ids=["int8", "packed"])
def test_every_row(device: str, group_size: int | None, packed: bool) -> None:
    config = make_config(
        group_size=group_size, embeddings=True, format="packed" if packed else "int8"
    )
    codes = random_codes(VOCABULARY, SIZE_K)
    scale = None if group_size is None else random_scale(*SCALES[group_size])
    layer = fill(embedding(config, VOCABULARY, SIZE_K), codes, scale, packed)

    ids = torch.arange(VOCABULARY).flip(0)
    assert torch.equal(layer(ids).cpu(), rows_of(codes, scale, ids))


@pytest.mark.parametrize("activation", ["a16", "int8"])
def test_shape_and_type(device: str, activation: str) -> None:
    codes, scale = random_codes(VOCABULARY, 30), random_scale(VOCABULARY, 1)
    config = make_config(group_size=-1, embeddings=True, activation=activation)
    layer = fill(embedding(config, VOCABULARY, 30), codes, scale)

    ids = torch.tensor([[99, 0, 7], [7, 16, 15]], dtype=torch.int32)
    out = layer(ids)

    assert out.dtype == torch.bfloat16
    assert torch.equal(out.cpu(), rows_of(codes, scale, ids))


def test_no_tokens(device: str) -> None:
    config = make_config(group_size=64, embeddings=True)
    codes, scale = random_codes(VOCABULARY, SIZE_K), random_scale(VOCABULARY, 2)
    layer = fill(embedding(config, VOCABULARY, SIZE_K), codes, scale)
    assert layer(torch.zeros(0, dtype=torch.int64)).shape == (0, SIZE_K)


@pytest.mark.parametrize("group_size", SCALES)
@pytest.mark.parametrize("ranks", [2, 4])
def test_ranks_each_have_a_part_of_the_vocabulary(
    device: str, tensor_parallel: TensorParallel, group_size: int, ranks: int
) -> None:
    codes, scale = random_codes(VOCABULARY, SIZE_K), random_scale(*SCALES[group_size])
    config = make_config(group_size=group_size, embeddings=True)
    ids = torch.arange(VOCABULARY)
    found = torch.zeros(VOCABULARY, SIZE_K, dtype=torch.bfloat16)
    for rank in range(ranks):
        tensor_parallel(rank, ranks)
        # The test stands in for the sum over the ranks.
        layer = embedding(config, VOCABULARY, SIZE_K, reduce_results=False)
        part = fill(layer, codes, scale)(ids)
        own = (ids >= rank * 128 // ranks) & (ids < (rank + 1) * 128 // ranks)
        assert not part[~own].any()
        found += part

    assert torch.equal(found.cpu(), rows_of(codes, scale, ids))


@pytest.mark.parametrize(
    "quantization",
    [{}, {"lm_head": True}, {"embeddings": True, "modules_to_not_convert": ["embed_tokens"]}],
    ids=["not-asked-for", "lm-head-asked-for", "excepted"],
)
def test_stays_dense(device: str, quantization: dict[str, object]) -> None:
    layer = embedding(make_config(group_size=64, **quantization), VOCABULARY, SIZE_K)
    assert isinstance(layer.quant_method, UnquantizedEmbeddingMethod)
