# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A quantization_config that makes no sense is refused by one line naming the key and its value."""

from typing import Any

import pytest

pytest.importorskip("vllm")

from ternary_layers import column, make_config
from transformers import LlamaConfig


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("group_size", 100),
        ("group_size", 16),
        ("group_size", -2),
        ("group_size", 128.0),
        ("group_size", "128"),
        ("group_size", False),
        ("activation", "fp8"),
        ("format", "gptq"),
        ("modules_to_not_convert", "lm_head"),
        ("modules_to_not_convert", [1]),
        ("lm_head", "yes"),
    ],
)
def test_value_is_refused(key: str, value: Any) -> None:
    with pytest.raises(ValueError) as error:
        make_config(**{key: value})
    message = str(error.value)
    assert message.startswith(f"quantization_config: {key} is {value!r}; it must be ")
    assert "\n" not in message


def test_unknown_key_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^quantization_config: unknown key 'bits'; .*group_size"):
        make_config(bits=2)


def test_group_size_that_does_not_divide_the_inputs_is_refused(device: str) -> None:
    with pytest.raises(
        ValueError,
        match=r"^model\.layers\.0\.mlp\.up_proj: group_size 64 does not divide its 96 input",
    ):
        column(make_config(group_size=64), 96, 16)


@pytest.mark.parametrize(
    ("keys", "named"),
    [
        ({"hadamard_block_size": 128}, "hadamard_block_size"),
        ({"transform": {"HadamardSize": 64}}, "transform.HadamardSize"),
    ],
)
def test_hadamard_transform_is_refused_by_its_name(keys: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=rf"^config\.json: {named} asks for a Hadamard"):
        make_config().maybe_update_config("model", LlamaConfig(**keys))
