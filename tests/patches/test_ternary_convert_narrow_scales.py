# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A layer keeps the group scales of a converted model in the type of its activations."""

from pathlib import Path

import pytest

pytest.importorskip("vllm")

import torch
from ternary_directories import convert, dense, read_config, read_tensors, read_weight, write_model
from ternary_layers import assert_product, column, finish, load, make_config, random_input
from ternary_stand_in import use_stand_in

NAME = "model.layers.0.mlp.up_proj"


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_layer(
    dtype: torch.dtype, tensor_parallel: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write_model(tmp_path / "source", dense(dtype=dtype))
    assert convert(source, tmp_path / "result", "--scale", "group:32") == 0
    result = read_tensors(tmp_path / "result")
    use_stand_in(monkeypatch)
    layer = column(make_config(**read_config(tmp_path / "result")["quantization_config"]), 64, 128)
    for part in ("weight_packed", "weight_scale"):
        load(layer, part, result[f"{NAME}.{part}"])
    finish(layer)

    assert layer.weight_scale.dtype == torch.bfloat16
    x = random_input(3, 64)
    assert_product(layer(x), x, read_weight(result, NAME, 64).double())
