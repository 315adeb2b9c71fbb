# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A quantization_config that makes no sense is refused by one line naming the key and its value."""

from typing import Any

import pytest

pytest.importorskip("vllm")

from bitnet_layers import make_config
from transformers import LlamaConfig
from vllm.model_executor.layers.quantization import bitnet


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("linear_class", "linear"),
        ("linear_class", None),
        ("quantization_mode", "later"),
        ("quantization_mode", True),
        ("use_rms_norm", "yes"),
        ("rms_norm_eps", "1e-6"),
        ("rms_norm_eps", -1e-6),
        ("rms_norm_eps", float("nan")),
        ("modules_to_not_convert", "lm_head"),
        ("modules_to_not_convert", [1]),
        ("activation", "fp8"),
    ],
)
def test_value_is_refused(key: str, value: Any) -> None:
    with pytest.raises(ValueError) as error:
        make_config(**{key: value})
    message = str(error.value)
    assert message.startswith(f"quantization_config: {key} is {value!r}; it must be ")
    assert "\n" not in message


@pytest.mark.parametrize("key", ["hadamard_block_size", "input_hadamard", "HadamardTransform"])
def test_hadamard_transform_is_refused_by_its_name(key: str) -> None:
    with pytest.raises(ValueError) as error:
        make_config(**{key: 128})
    message = str(error.value)
    assert message.startswith(f"quantization_config: {key} asks for a Hadamard transform")
    assert "\n" not in message


def test_hadamard_transform_of_the_model_is_refused_by_its_name() -> None:
    with pytest.raises(ValueError, match=r"^config\.json: hadamard_block_size asks for a Hadamard"):
        make_config().maybe_update_config("model", LlamaConfig(hadamard_block_size=128))


@pytest.mark.parametrize("value", [None, False])
def test_hadamard_transform_that_is_off_is_accepted(value: object) -> None:
    assert make_config(use_hadamard=value).divides


def test_unknown_key_is_ignored_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    # Transformers accepts any.
    warnings: list[str] = []
    monkeypatch.setattr(
        bitnet.logger, "warning", lambda text, *arguments: warnings.append(text % arguments)
    )
    assert make_config(version=2, author="x").linear_class == "bitlinear"
    assert warnings == ["quantization_config: the bitnet method ignores author, version."]
