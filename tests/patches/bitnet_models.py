# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Whole BitNet models for the tests, in one process and without an engine."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from vllm.config import (
    CompilationConfig,
    LoadConfig,
    ModelConfig,
    VllmConfig,
    set_current_vllm_config,
)
from vllm.distributed import (
    destroy_distributed_environment,
    destroy_model_parallel,
    init_distributed_environment,
    initialize_model_parallel,
    parallel_state,
)
from vllm.model_executor.layers.attention import Attention
from vllm.model_executor.model_loader.default_loader import DefaultModelLoader
from vllm.model_executor.model_loader.utils import (
    initialize_model,
    process_weights_after_loading,
)
from vllm.model_executor.models import llama


def attend(self: Any, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Causal attention of one sequence to itself, without a cache."""
    heads = [part.unflatten(1, (-1, self.head_size)).transpose(0, 1)[None] for part in (q, k, v)]
    out = torch.nn.functional.scaled_dot_product_attention(*heads, is_causal=True, enable_gqa=True)
    return out[0].transpose(0, 1).flatten(1)


@pytest.fixture
def one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Process groups of one process, and layers that attend without an engine's cache."""
    monkeypatch.setattr(Attention, "forward", attend)
    method = f"file://{tmp_path}/rendezvous"
    with set_current_vllm_config(VllmConfig()):
        init_distributed_environment(1, 0, method, 0, "gloo")
        initialize_model_parallel(1, 1)
        try:
            yield
        finally:
            destroy_model_parallel()
            destroy_distributed_environment()


def pretend_stage(monkeypatch: pytest.MonkeyPatch, rank: int, size: int) -> None:
    """Be a stage of the pipeline, for the models made and run after it."""
    group = SimpleNamespace(
        rank_in_group=rank,
        world_size=size,
        is_first_rank=rank == 0,
        is_last_rank=rank == size - 1,
    )
    for module in (llama, parallel_state):
        monkeypatch.setattr(module, "get_pp_group", lambda: group)


def load_model(checkpoint: Path, device: str, dtype: str) -> Any:
    config = ModelConfig(str(checkpoint), skip_tokenizer_init=True, dtype=dtype)
    vllm_config = VllmConfig(model_config=config, compilation_config=CompilationConfig(mode=0))
    default = torch.get_default_dtype()
    torch.set_default_dtype(config.dtype)
    try:
        with set_current_vllm_config(vllm_config), torch.device(device):
            model = initialize_model(vllm_config, model_config=config)
            DefaultModelLoader(LoadConfig()).load_weights(model, config)
            process_weights_after_loading(model, config, torch.device(device))
    finally:
        torch.set_default_dtype(default)
    return model


@dataclass
class Reference:
    """What Transformers continued a prompt to, and the logits of each step by which it did."""

    tokens: torch.Tensor
    logits: torch.Tensor
    half_logits: torch.Tensor


def read_reference(checkpoint: Path) -> Reference:
    return Reference(**load_file(checkpoint.with_name(f"{checkpoint.name}.safetensors")))
