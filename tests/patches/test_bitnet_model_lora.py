# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A LoRA adapter on BitNetForCausalLM gives what the dense model with the adapter merged gives."""

from pathlib import Path

import pytest

pytest.importorskip("vllm")

import torch
from lora_models import CONFIG, add_bitnet, assert_served, make_adapter
from ternary_directories import floats, generator, projections, write_model
from ternary_models import GPU_MARK

pytestmark = [pytest.mark.slow, *GPU_MARK]


def test_served_as_the_merged_model(tmp_path: Path) -> None:
    config = CONFIG | {
        "architectures": ["BitNetForCausalLM"],
        "model_type": "bitnet",
        "hidden_act": "relu2",
        "tie_word_embeddings": True,
    }
    packed = floats(config)
    for layer in range(config["num_hidden_layers"]):
        for seed, name in enumerate(("self_attn.attn_sub_norm", "mlp.ffn_sub_norm")):
            size = config["hidden_size"] if "attn" in name else config["intermediate_size"]
            norm = torch.rand(size, generator=generator(seed)) + 0.5
            packed[f"model.layers.{layer}.{name}.weight"] = norm.bfloat16()
    merged = add_bitnet(config, packed, divides=False)
    quantization = {"quant_method": "bitnet", "linear_class": "autobitlinear", "activation": "a16"}
    checkpoint = write_model(tmp_path / "model", packed, config, quantization)

    on_gpu = torch.cuda.is_available()
    dtype, tolerance = ("bfloat16", 4.0) if on_gpu else ("float32", 1e-3)
    adapter = make_adapter(projections(config))
    assert_served(tmp_path, checkpoint, config, merged, adapter, dtype, tolerance)
