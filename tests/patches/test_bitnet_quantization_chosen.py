# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A bitnet checkpoint needs no flag; whoever names humming gets humming, with all it is told."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vllm")

from transformers import LlamaConfig
from vllm.config import LoadConfig, ModelConfig
from vllm.model_executor.layers.quantization.bitnet import BitNetQuantConfig
from vllm.model_executor.layers.quantization.humming import HummingConfig
from vllm.model_executor.model_loader.weight_utils import get_quant_config

# As published: Llama-shaped models name nothing but the method, and perhaps the lm_head.
QUANTIZATION = {"quant_method": "bitnet", "modules_to_not_convert": None}


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    config = LlamaConfig(
        vocab_size=64,
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=1,
        num_attention_heads=4,
        architectures=["LlamaForCausalLM"],
        dtype="bfloat16",
    ).to_dict()
    text = json.dumps(config | {"quantization_config": QUANTIZATION})
    (tmp_path / "config.json").write_text(text)
    return tmp_path


def chosen(path: Path, **options: Any) -> Any:
    model = ModelConfig(str(path), skip_tokenizer_init=True, **options)
    return get_quant_config(model, LoadConfig())


def test_without_a_flag(checkpoint: Path) -> None:
    config = chosen(checkpoint)
    assert type(config) is BitNetQuantConfig
    assert config.divides and config.activation == "int8" and not config.lm_head


def test_named_itself(checkpoint: Path) -> None:
    assert type(chosen(checkpoint, quantization="bitnet")) is BitNetQuantConfig


def test_named_humming(checkpoint: Path) -> None:
    config = chosen(checkpoint, quantization="humming")
    assert type(config) is HummingConfig
    assert config.full_config == QUANTIZATION


def test_named_another_method(checkpoint: Path) -> None:
    with pytest.raises(ValueError, match=r"\(bitnet\) does not match .*\(fp8\)"):
        chosen(checkpoint, quantization="fp8")


def test_activations_can_be_chosen_by_an_override(checkpoint: Path) -> None:
    override = {"quantization_config": QUANTIZATION | {"activation": "a16"}}
    assert chosen(checkpoint, hf_overrides=override).activation == "a16"


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_any_dtype_without_a_gpu(
    checkpoint: Path, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = chosen(checkpoint, dtype=dtype)
    assert ModelConfig(str(checkpoint), dtype=dtype).dtype in config.get_supported_act_dtypes()
