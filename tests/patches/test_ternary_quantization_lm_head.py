# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""An lm_head is ternary only if the config says so, and its padding gives zero logits."""

import pytest

pytest.importorskip("vllm")

import torch
from ternary_layers import (
    TensorParallel,
    assert_product,
    dequantize,
    finish,
    lm_head,
    load,
    make_config,
    pack,
    random_codes,
    random_input,
    random_scale,
)
from vllm.model_executor.layers.vocab_parallel_embedding import (
    UnquantizedEmbeddingMethod,
    VocabParallelEmbedding,
)

VOCABULARY, SIZE_K = 100, 128
SCALES = {0: (1,), -1: (VOCABULARY, 1), 64: (VOCABULARY, 2)}


@pytest.mark.parametrize("group_size", SCALES, ids=["tensor", "channel", "group"])
@pytest.mark.parametrize("packed", [False, True], ids=["int8", "packed"])
def test_logits(device: str, group_size: int, packed: bool) -> None:
    config = make_config(group_size=group_size, lm_head=True, format="packed" if packed else "int8")
    codes, scale = random_codes(VOCABULARY, SIZE_K), random_scale(*SCALES[group_size])
    layer = lm_head(config, VOCABULARY, SIZE_K)
    if packed:
        load(layer, "weight_packed", pack(codes))
    else:
        load(layer, "weight", codes)
    load(layer, "weight_scale", scale)
    x = random_input(3, SIZE_K)

    logits = finish(layer).quant_method.apply(layer, x)

    assert logits.shape == (3, 128)
    assert not logits[:, VOCABULARY:].any()
    assert_product(logits[:, :VOCABULARY], x, dequantize(codes, scale))


def test_last_rank_has_the_padding(device: str, tensor_parallel: TensorParallel) -> None:
    tensor_parallel(1, 2)
    codes, scale = random_codes(VOCABULARY, SIZE_K), random_scale(VOCABULARY, 2)
    layer = lm_head(make_config(group_size=64, lm_head=True), VOCABULARY, SIZE_K)
    load(layer, "weight", codes)
    load(layer, "weight_scale", scale)
    x = random_input(3, SIZE_K)

    logits = finish(layer).quant_method.apply(layer, x)

    assert logits.shape == (3, 64)
    assert not logits[:, 36:].any()
    assert_product(logits[:, :36], x, dequantize(codes, scale)[64:])


def test_is_dense_unless_asked_for(device: str) -> None:
    layer = lm_head(make_config(group_size=64), VOCABULARY, SIZE_K)
    assert isinstance(layer.quant_method, UnquantizedEmbeddingMethod)


def test_tying_it_to_a_dense_embedding_is_refused(device: str) -> None:
    config = make_config(group_size=64, lm_head=True)
    embedding = VocabParallelEmbedding(
        VOCABULARY,
        SIZE_K,
        params_dtype=torch.bfloat16,
        quant_config=config,
        prefix="model.embed_tokens",
    )
    with pytest.raises(ValueError, match=r"^lm_head: .* lm_head true, but the model ties"):
        lm_head(config, VOCABULARY, SIZE_K).tie_weights(embedding)
