# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A LoRA adapter on packed bitnet layers gives what the dense model with the adapter merged gives.

With 16-bit activations: 8-bit ones are of the packed weights alone, and cannot be merged.
"""

from pathlib import Path

import pytest

pytest.importorskip("vllm")

import torch
from lora_models import CONFIG, add_bitnet, assert_served, make_adapter
from ternary_directories import floats, projections, write_model
from ternary_models import GPU_MARK

pytestmark = [pytest.mark.slow, *GPU_MARK]


def test_served_as_the_merged_model(tmp_path: Path) -> None:
    packed = floats(CONFIG)
    merged = add_bitnet(CONFIG, packed, divides=True)
    quantization = {"quant_method": "bitnet", "linear_class": "bitlinear", "activation": "a16"}
    checkpoint = write_model(tmp_path / "model", packed, CONFIG, quantization)

    on_gpu = torch.cuda.is_available()
    dtype, tolerance = ("float16", 1.0) if on_gpu else ("float32", 1e-3)
    adapter = make_adapter(projections(CONFIG))
    assert_served(tmp_path, checkpoint, CONFIG, merged, adapter, dtype, tolerance)
