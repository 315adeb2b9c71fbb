# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What is wrong with a ternary embedding in a checkpoint is said in one line that names it."""

from typing import Any

import pytest

pytest.importorskip("vllm")

import torch
from ternary_embeddings import embedding, tied
from ternary_layers import (
    TensorParallel,
    finish,
    lm_head,
    load,
    make_config,
    pack,
    random_codes,
    random_scale,
)

VOCABULARY, SIZE_K = 100, 128


def ternary(**quantization: Any) -> Any:
    config = make_config(**{"group_size": 64, "embeddings": True} | quantization)
    return embedding(config, VOCABULARY, SIZE_K)


def refused(layer: Any, **tensors: torch.Tensor) -> str:
    with pytest.raises(ValueError) as error:
        for name, tensor in tensors.items():
            load(layer, name, tensor)
        finish(layer)
    message = str(error.value)
    assert "\n" not in message
    return message


def codes_with(value: int) -> torch.Tensor:
    codes = random_codes(VOCABULARY, SIZE_K)
    codes[70, 9] = value
    return codes


def scale_with(value: float) -> torch.Tensor:
    scale = random_scale(VOCABULARY, 2)
    scale[70, 1] = value
    return scale


@pytest.mark.parametrize("value", [2, -2, -128])
def test_value_out_of_range(device: str, value: int) -> None:
    message = refused(ternary(), weight=codes_with(value), weight_scale=scale_with(1))
    assert message.startswith(f"model.embed_tokens.weight holds {value} at row 70, column 9;")


def test_value_in_the_part_of_a_rank(device: str, tensor_parallel: TensorParallel) -> None:
    tensor_parallel(1, 2)
    message = refused(ternary(), weight=codes_with(2), weight_scale=scale_with(1))
    assert "at row 6, column 9 of the part of tensor parallel rank 1;" in message


def test_code_3(device: str) -> None:
    packed = pack(random_codes(VOCABULARY, SIZE_K))
    packed[70, 2] |= 3 << 2
    layer = ternary(format="packed")
    message = refused(layer, weight_packed=packed, weight_scale=scale_with(1))
    assert message.startswith("model.embed_tokens.weight_packed holds code 3 at row 70, column 9;")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_scale_that_is_not_finite(device: str, value: float) -> None:
    assert refused(ternary(), weight_scale=scale_with(value)) == (
        f"model.embed_tokens.weight_scale holds {value} at [70, 1]; scales must be finite."
    )


def test_missing_scale(device: str) -> None:
    assert refused(ternary(), weight=random_codes(VOCABULARY, SIZE_K)) == (
        "model.embed_tokens.weight_scale is missing from the checkpoint, but quantization_config "
        "has group_size 64."
    )


def test_missing_weight(device: str) -> None:
    message = refused(ternary(), weight_scale=scale_with(1))
    assert message == "model.embed_tokens.weight is missing from the checkpoint."


@pytest.mark.parametrize("repeats", [(2, 1), (1, 2)], ids=["rows", "groups"])
def test_doubled_scale(device: str, repeats: tuple[int, int]) -> None:
    scale = random_scale(VOCABULARY, 2).repeat(*repeats)
    message = refused(ternary(), weight_scale=scale)
    assert message.startswith("model.embed_tokens")
    assert f"shape {list(scale.shape)}" in message


def test_float_weights(device: str) -> None:
    message = refused(ternary(), weight=torch.zeros(VOCABULARY, SIZE_K, dtype=torch.bfloat16))
    assert message.startswith("model.embed_tokens.weight is torch.bfloat16 in the checkpoint,")


def test_another_vocabulary(device: str) -> None:
    message = refused(ternary(), weight=random_codes(VOCABULARY + 28, SIZE_K))
    assert message.startswith("model.embed_tokens: a tensor of shape [128, 128]")


def test_group_that_does_not_divide_the_hidden_size(device: str) -> None:
    with pytest.raises(ValueError, match=r"^model\.embed_tokens: group_size 96 does not divide"):
        ternary(group_size=96)


@pytest.mark.parametrize("name", ["weight", "weight_packed", "weight_scale"])
def test_tied_head_with_weights_of_its_own(device: str, name: str) -> None:
    _, head = tied(make_config(embeddings=True), VOCABULARY, SIZE_K)
    assert refused(head, **{name: random_codes(VOCABULARY, SIZE_K)}) == (
        "lm_head has weights of its own in the checkpoint, but config.json has "
        "tie_word_embeddings true and the embedding is ternary."
    )


def test_ternary_head_tied_to_an_excepted_embedding(device: str) -> None:
    config = make_config(embeddings=True, lm_head=True, modules_to_not_convert=["embed_tokens"])
    dense = embedding(config, VOCABULARY, SIZE_K)
    with pytest.raises(ValueError, match=r"^lm_head: .* which is not ternary\.$"):
        lm_head(config, VOCABULARY, SIZE_K).tie_weights(dense)


@pytest.mark.parametrize("value", ["yes", 1, None])
def test_key_that_is_no_boolean(value: Any) -> None:
    with pytest.raises(ValueError) as error:
        make_config(embeddings=value)
    assert str(error.value) == (
        f"quantization_config: embeddings is {value!r}; it must be true or false."
    )
