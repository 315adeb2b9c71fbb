# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A LoRA adapter on a ternary embedding and lm_head gives what the dense model with the adapter
merged gives. Nothing of theirs needs to be left out for adapters of other layers."""

from pathlib import Path

import pytest

pytest.importorskip("vllm")

from lora_models import CONFIG, assert_served, make_adapter
from ternary_directories import (
    EMBEDDING,
    LM_HEAD,
    dequantize,
    floats,
    pack,
    projections,
    random_codes,
    scales,
    write_model,
)
from ternary_models import GPU_MARK

pytestmark = [pytest.mark.slow, *GPU_MARK]


@pytest.mark.parametrize("tied", [False, True], ids=["untied", "tied"])
def test_served_as_the_merged_model(tied: bool, tmp_path: Path) -> None:
    config = CONFIG | {"tie_word_embeddings": tied}
    size = (config["vocab_size"], config["hidden_size"])
    sizes = projections(config) | {EMBEDDING: size} | ({} if tied else {LM_HEAD: size})
    packed = floats(config)
    merged = dict(packed)
    for seed, (name, (rows, columns)) in enumerate(sizes.items()):
        packed.pop(f"{name}.weight", None)
        codes, scale = random_codes(rows, columns, seed), scales((rows, columns), 32, seed)
        packed[f"{name}.weight_packed"] = pack(codes)
        packed[f"{name}.weight_scale"] = scale
        merged[f"{name}.weight"] = dequantize(codes, scale)
    quantization = {
        "quant_method": "ternary",
        "format": "packed",
        "group_size": 32,
        "embeddings": True,
        "lm_head": not tied,
    }
    checkpoint = write_model(tmp_path / "model", packed, config, quantization)

    adapted = projections(config) | {EMBEDDING: (size[1], size[0])}
    adapter = make_adapter(adapted if tied else adapted | {LM_HEAD: size})
    assert_served(tmp_path, checkpoint, config, merged, adapter, "float16", 0.2)
