# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Ternary embeddings for the tests: make one, load it, and what it must give."""

from typing import Any

import torch
from ternary_layers import dequantize, finish, lm_head, load, pack
from vllm.model_executor.layers.vocab_parallel_embedding import VocabParallelEmbedding

PREFIX = "model.embed_tokens"


def embedding(config: Any, vocabulary: int, size_k: int, **options: Any) -> Any:
    return VocabParallelEmbedding(
        vocabulary,
        size_k,
        quant_config=config,
        params_dtype=torch.bfloat16,
        prefix=PREFIX,
        **options,
    )


def tied(config: Any, vocabulary: int, size_k: int) -> tuple[Any, Any]:
    """An embedding and the lm_head tied to it, as models make them."""
    embed_tokens = embedding(config, vocabulary, size_k)
    return embed_tokens, lm_head(config, vocabulary, size_k).tie_weights(embed_tokens)


def fill(layer: Any, codes: torch.Tensor, scale: torch.Tensor | None, packed: bool = False) -> Any:
    """Load a layer, and do what vLLM does once all tensors are loaded."""
    load(layer, "weight_packed" if packed else "weight", pack(codes) if packed else codes)
    if scale is not None:
        load(layer, "weight_scale", scale)
    return finish(layer)


def rows_of(codes: torch.Tensor, scale: torch.Tensor | None, ids: torch.Tensor) -> torch.Tensor:
    """What a lookup must give exactly: bfloat16 [..., K] on the CPU."""
    return dequantize(codes, scale)[ids.cpu()].bfloat16()
