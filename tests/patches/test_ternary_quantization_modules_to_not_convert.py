# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Layers named in modules_to_not_convert stay dense, those that only look alike do not."""

import pytest

pytest.importorskip("vllm")

from ternary_layers import column, gate_up, lm_head, make_config, qkv
from vllm.model_executor.layers.linear import UnquantizedLinearMethod
from vllm.model_executor.layers.vocab_parallel_embedding import UnquantizedEmbeddingMethod


def is_dense(names: list[str], prefix: str) -> bool:
    layer = column(make_config(modules_to_not_convert=names), 64, 16, prefix=prefix)
    return isinstance(layer.quant_method, UnquantizedLinearMethod)


@pytest.mark.parametrize(
    "name", ["model.layers.1.mlp.o_proj", "o_proj", "mlp.o_proj", "model.layers.1", "mlp"]
)
def test_named_layer_stays_dense(device: str, name: str) -> None:
    assert is_dense([name], "model.layers.1.mlp.o_proj")


@pytest.mark.parametrize("name", ["proj", "o_proj.x", "model.layers.11", "layers.1.ml", "lm_head"])
def test_layer_that_looks_alike_is_ternary(device: str, name: str) -> None:
    assert not is_dense([name], "model.layers.1.mlp.o_proj")


def test_fused_layer_stays_dense_if_all_its_parts_are_named(device: str) -> None:
    config = make_config(modules_to_not_convert=["gate_proj", "up_proj"])
    layer = gate_up(config, 64, 16)
    assert isinstance(layer.quant_method, UnquantizedLinearMethod)


def test_fused_layer_of_which_one_part_is_named_is_refused(device: str) -> None:
    config = make_config(modules_to_not_convert=["k_proj"])
    with pytest.raises(ValueError, match=r"some but not all shards of .*qkv_proj"):
        qkv(config, 64, heads=4, kv_heads=2)


def test_named_lm_head_stays_dense(device: str) -> None:
    config = make_config(modules_to_not_convert=["lm_head"], lm_head=True)
    layer = lm_head(config, 100, 64)
    assert isinstance(layer.quant_method, UnquantizedEmbeddingMethod)
