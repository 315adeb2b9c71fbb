# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Which layers run with int8 activations: exclude wins, search anywhere in the name."""

import pytest

pytest.importorskip("vllm")

import torch
from vllm.model_executor.layers.quantization.utils.marlin_utils import get_marlin_input_dtype

LAYERS = {
    "qkv": "model.layers.0.self_attn.qkv_proj",
    "down": "model.layers.0.mlp.down_proj",
    "head": "lm_head",
    "inner_head": "language_model.lm_head",
    "draft": "mtp.layers.0.self_attn.qkv_proj",
}


@pytest.mark.parametrize(
    ("exclude", "include", "selected"),
    [
        (None, None, {"qkv", "down"}),
        ("", None, set(LAYERS)),
        (None, "", {"qkv", "down"}),
        (None, "self_attn", {"qkv"}),
        ("qkv", "self_attn", set()),
        ("", "self_attn", {"qkv", "draft"}),
        (r"layers\.\d+\.mlp", None, {"qkv", "head", "inner_head", "draft"}),
        ("^lm_head$", "", {"qkv", "down", "inner_head", "draft"}),
    ],
)
def test_selection(
    monkeypatch: pytest.MonkeyPatch, exclude: str | None, include: str | None, selected: set[str]
) -> None:
    monkeypatch.setenv("VLLM_MARLIN_INPUT_DTYPE", "int8")
    for name, value in (("EXCLUDE", exclude), ("INCLUDE", include)):
        if value is None:
            monkeypatch.delenv(f"VLLM_MARLIN_INT8_{name}_RE", raising=False)
        else:
            monkeypatch.setenv(f"VLLM_MARLIN_INT8_{name}_RE", value)
    dtypes = {key: get_marlin_input_dtype(layer) for key, layer in LAYERS.items()}
    assert dtypes == {key: torch.int8 if key in selected else None for key in LAYERS}
