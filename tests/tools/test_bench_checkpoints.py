# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Checkpoints of the server benchmark: safetensors reads back what was drawn, index included."""

import dataclasses
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch
from safetensors.torch import load_file

KINDS = ["bf16", "ternary", "ternary-g128", "gptq-int4", "bitnet"]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    path = Path(__file__).parents[2] / "bench" / "checkpoints.py"
    spec = importlib.util.spec_from_file_location("bench_checkpoints", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "bench_checkpoints", module)
    monkeypatch.syspath_prepend(str(path.parent))
    spec.loader.exec_module(module)
    # Tensors of several pieces, more files than may wait.
    monkeypatch.setattr(module, "PIECE", 1000)
    monkeypatch.setattr(module, "WRITERS", 2)
    small = {"num_hidden_layers": 5, "hidden_size": 128, "intermediate_size": 256}
    small |= {"num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 64}
    geometry = dataclasses.replace(module.GEOMETRIES["llama3-8b"], vocab_size=100, **small)
    monkeypatch.setitem(module.GEOMETRIES, "small", geometry)
    return module


@pytest.mark.parametrize("weights", KINDS)
def test_what_is_drawn_is_read(bench: ModuleType, tmp_path: Path, weights: str) -> None:
    geometry = bench.GEOMETRIES["small"]
    total = bench.write_checkpoint(geometry, weights, tmp_path, "cpu")
    index = json.loads((tmp_path / "model.safetensors.index.json").read_text())
    read = {}
    for name in set(index["weight_map"].values()):
        read.update(load_file(tmp_path / name))
    drawn: dict[str, torch.Tensor] = {}
    for tensors in bench.layers(geometry, weights, bench.Drawer("cpu")):
        drawn |= tensors
    assert read.keys() == drawn.keys() == index["weight_map"].keys()
    for name, tensor in drawn.items():
        assert read[name].dtype == tensor.dtype
        assert torch.equal(read[name], tensor), name
    assert total == sum(t.numel() * t.element_size() for t in drawn.values())


def test_kinds_share_files(bench: ModuleType, tmp_path: Path) -> None:
    geometry = bench.GEOMETRIES["small"]
    one, other = tmp_path / "ternary", tmp_path / "ternary-int8"
    total = bench.write_checkpoint(geometry, "ternary", one, "cpu")
    assert bench.write_checkpoint(geometry, "ternary-int8", other, "cpu", one) == total
    assert (other / "model-00005.safetensors").resolve() == one / "model-00005.safetensors"
    configs = [json.loads((folder / "config.json").read_text()) for folder in (one, other)]
    assert (
        configs[0]["quantization_config"] | {"activation": "int8"}
        == configs[1]["quantization_config"]
    )
