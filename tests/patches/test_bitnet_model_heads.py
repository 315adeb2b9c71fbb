# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Key-value heads that the ranks cannot share are refused by one line; others are accepted."""

import pytest

pytest.importorskip("vllm")

import torch
from bitnet_models import one_process
from transformers import BitNetConfig
from vllm.model_executor.models import bitnet, llama

__all__ = ["one_process"]

# Those of microsoft/bitnet-b1.58-2B-4T.
HEADS, KV_HEADS = 20, 5


def make_attention(monkeypatch: pytest.MonkeyPatch, ranks: int) -> bitnet.BitNetAttention:
    for module in (bitnet, llama):
        monkeypatch.setattr(module, "get_tensor_model_parallel_world_size", lambda: ranks)
    # It would ask for an engine's configuration.
    monkeypatch.setattr(llama, "Attention", lambda *_, **__: torch.nn.Identity())
    config = BitNetConfig(
        hidden_size=32 * HEADS, num_attention_heads=HEADS, num_key_value_heads=KV_HEADS
    )
    return bitnet.BitNetAttention(config, prefix="model.layers.0.self_attn")


@pytest.mark.usefixtures("one_process")
@pytest.mark.parametrize("ranks", [2, 4])
def test_refused(monkeypatch: pytest.MonkeyPatch, tensor_parallel: object, ranks: int) -> None:
    with pytest.raises(ValueError) as error:
        make_attention(monkeypatch, ranks)
    assert str(error.value) == (
        f"model.layers.0.self_attn: its 5 key-value heads cannot be shared out to {ranks} tensor "
        "parallel ranks; use a tensor parallel size that divides them or is a multiple of them."
    )


@pytest.mark.usefixtures("one_process")
@pytest.mark.parametrize(("ranks", "heads", "kv_heads"), [(1, 20, 5), (5, 4, 1), (10, 2, 1)])
def test_accepted(
    monkeypatch: pytest.MonkeyPatch,
    tensor_parallel: object,
    ranks: int,
    heads: int,
    kv_heads: int,
) -> None:
    attention = make_attention(monkeypatch, ranks)
    assert (attention.num_heads, attention.num_kv_heads) == (heads, kv_heads)
    assert attention.attn_sub_norm.weight.shape == (32 * heads,)
