# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Sharded checkpoints in and out."""

import json
from pathlib import Path

import pytest

pytest.importorskip("vllm")

import torch
from ternary_directories import (
    convert,
    floats,
    pack,
    projections,
    random_codes,
    read_tensors,
    ternary_values,
    write_model,
)


@pytest.mark.parametrize("shards", [1, 5])
def test_shards_make_no_difference(shards: int, tmp_path: Path) -> None:
    source = write_model(tmp_path / "source", ternary_values(32), shards=shards)
    assert convert(source, tmp_path / "one") == 0
    assert convert(source, tmp_path / "many", "--shard-size", "10KB") == 0

    index = json.loads((tmp_path / "many/model.safetensors.index.json").read_text())
    files = {file.name for file in (tmp_path / "many").glob("*.safetensors")}
    assert len(files) > 2
    assert set(index["weight_map"].values()) == files
    one, many = read_tensors(tmp_path / "one"), read_tensors(tmp_path / "many")
    assert one.keys() == many.keys() == index["weight_map"].keys()
    for name in one:
        assert torch.equal(one[name], many[name]), name
    assert index["metadata"]["total_size"] == sum(one[name].nbytes for name in one)
    for file in files - {"model-00001-of-00001.safetensors"}:
        assert (tmp_path / "many" / file).stat().st_size < 20_000


def test_a_scale_in_another_shard_than_its_weight(tmp_path: Path) -> None:
    tensors = floats()
    for seed, (name, size) in enumerate(projections().items()):
        tensors[f"{name}.weight_packed"] = pack(random_codes(*size, seed))
        tensors[f"{name}.weight_scale"] = torch.full((1,), seed + 1.0)
    quantization = {"quant_method": "ternary", "format": "packed", "group_size": 0}
    source = write_model(tmp_path / "source", tensors, quantization=quantization, shards=7)
    name = "model.layers.0.mlp.up_proj"
    index = json.loads((source / "model.safetensors.index.json").read_text())["weight_map"]
    assert index[f"{name}.weight_packed"] != index[f"{name}.weight_scale"]
    assert convert(source, tmp_path / "result") == 0
    result = read_tensors(tmp_path / "result")
    for name in tensors:
        assert torch.equal(result[name], tensors[name]), name
