# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What is no bias, such as one packed like a weight, is refused by one line naming the tensor."""

from typing import Any

import pytest

pytest.importorskip("vllm")

import bitnet_layers
import torch
from ternary_layers import column, load, make_config
from vllm.model_executor.layers.linear import QKVParallelLinear

CONFIGS = [make_config(group_size=-1), bitnet_layers.make_config()]
ATTENTION = "model.layers.0.self_attn"


def qkv(config: Any) -> Any:
    return QKVParallelLinear(
        96, 16, 4, 2, bias=True, quant_config=config, prefix=f"{ATTENTION}.qkv_proj"
    )


def refused(layer: Any, tensor: torch.Tensor, *shard: Any) -> str:
    with pytest.raises(ValueError) as error:
        load(layer, "bias", tensor, *shard)
    return str(error.value)


@pytest.mark.parametrize("config", CONFIGS)
def test_packed(device: str, config: Any) -> None:
    packed = torch.zeros(8, dtype=torch.uint8, device="cpu")
    reason = "is torch.uint8 of shape [8] in the checkpoint; it must be a floating point vector."
    assert refused(qkv(config), packed, "k") == f"{ATTENTION}.k_proj.bias {reason}"
    layer = column(config, 96, 32, bias=True)
    assert refused(layer, packed) == f"model.layers.0.mlp.up_proj.bias {reason}"


@pytest.mark.parametrize("size", [31, 33])
@pytest.mark.parametrize("config", CONFIGS)
def test_of_another_size(device: str, config: Any, size: int) -> None:
    message = refused(qkv(config), torch.zeros(size, device="cpu"), "v")
    assert message.startswith(f"{ATTENTION}.v_proj: a tensor of shape [{size}] in the checkpoint ")


@pytest.mark.parametrize("config", CONFIGS)
def test_scale_of_a_bias(device: str, config: Any) -> None:
    scale: Any = torch.ones(1, device="cpu")
    scale.shard_id = "q"
    with pytest.raises(ValueError) as error:
        list(qkv(config).load_weights([("bias_scale", scale)]))
    assert str(error.value) == (
        f"{ATTENTION}.q_proj: the checkpoint has a tensor of shape [1] that the layer has no "
        "parameter for."
    )
