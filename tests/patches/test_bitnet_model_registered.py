# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""BitNetForCausalLM is known, with what users of other models expect of it."""

from pathlib import Path

import pytest

pytest.importorskip("vllm")

from vllm.config import ModelConfig
from vllm.model_executor.models import ModelRegistry
from vllm.model_executor.models.bitnet import BitNetForCausalLM
from vllm.model_executor.models.interfaces import supports_lora, supports_pp


def test_checkpoint_resolves_to_it(bitnet_checkpoints: Path) -> None:
    config = ModelConfig(str(bitnet_checkpoints / "bitnet-0"), skip_tokenizer_init=True)
    model, architecture = ModelRegistry.resolve_model_cls(config.architectures, config)
    assert model is BitNetForCausalLM and architecture == "BitNetForCausalLM"


def test_pipeline_parallelism_and_lora() -> None:
    assert supports_pp(BitNetForCausalLM) and supports_lora(BitNetForCausalLM)
    # The names that an adapter's tensors have.
    assert BitNetForCausalLM.packed_modules_mapping == {
        "qkv_proj": ["q_proj", "k_proj", "v_proj"],
        "gate_up_proj": ["gate_proj", "up_proj"],
    }
