# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Ternary layers for the tests: make one, load it, and what it must compute."""

from collections.abc import Callable
from typing import Any

import torch
from vllm.model_executor.layers.linear import (
    ColumnParallelLinear,
    MergedColumnParallelLinear,
    QKVParallelLinear,
    RowParallelLinear,
)
from vllm.model_executor.layers.quantization import get_quantization_config
from vllm.model_executor.layers.vocab_parallel_embedding import ParallelLMHead

PREFIX = "model.layers.0"

# Of the fixture tensor_parallel: pretends to be a rank of so many.
TensorParallel = Callable[[int, int], None]


def make_config(**quantization: Any) -> Any:
    config = get_quantization_config("ternary").from_config(
        {"quant_method": "ternary"} | quantization
    )
    config.packed_modules_mapping = {
        "qkv_proj": ["q_proj", "k_proj", "v_proj"],
        "gate_up_proj": ["gate_proj", "up_proj"],
    }
    return config


def column(config: Any, size_k: int, size_n: int, **options: Any) -> Any:
    options = {"bias": False, "prefix": f"{PREFIX}.mlp.up_proj"} | options
    return ColumnParallelLinear(
        size_k,
        size_n,
        quant_config=config,
        params_dtype=torch.bfloat16,
        return_bias=False,
        **options,
    )


def row(config: Any, size_k: int, size_n: int, **options: Any) -> Any:
    """A row-parallel layer that leaves adding up the ranks' outputs to the test."""
    options = {"bias": False, "reduce_results": False} | options
    return RowParallelLinear(
        size_k,
        size_n,
        quant_config=config,
        params_dtype=torch.bfloat16,
        return_bias=False,
        prefix=f"{PREFIX}.mlp.down_proj",
        **options,
    )


def gate_up(config: Any, size_k: int, size_n: int) -> Any:
    return MergedColumnParallelLinear(
        size_k,
        [size_n, size_n],
        bias=False,
        quant_config=config,
        params_dtype=torch.bfloat16,
        return_bias=False,
        prefix=f"{PREFIX}.mlp.gate_up_proj",
    )


def qkv(config: Any, size_k: int, heads: int, kv_heads: int, head_size: int = 16) -> Any:
    return QKVParallelLinear(
        size_k,
        head_size,
        heads,
        kv_heads,
        bias=False,
        quant_config=config,
        params_dtype=torch.bfloat16,
        return_bias=False,
        prefix=f"{PREFIX}.self_attn.qkv_proj",
    )


def lm_head(config: Any, vocabulary: int, size_k: int) -> Any:
    return ParallelLMHead(
        vocabulary, size_k, quant_config=config, params_dtype=torch.bfloat16, prefix="lm_head"
    )


def load(layer: Any, name: str, tensor: torch.Tensor, *shard: Any) -> None:
    """Load a tensor of the checkpoint as a model's load_weights does."""
    param = getattr(layer, name)
    param.weight_loader(param, tensor.cpu(), *shard)


def finish(layer: Any) -> Any:
    """What vLLM does once all tensors are loaded."""
    layer.quant_method.process_weights_after_loading(layer)
    return layer


def random_codes(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator("cpu").manual_seed(seed)
    return torch.randint(-1, 2, shape, generator=generator, dtype=torch.int8, device="cpu")


def random_scale(*shape: int, seed: int = 1) -> torch.Tensor:
    generator = torch.Generator("cpu").manual_seed(seed)
    return torch.rand(shape, generator=generator, device="cpu") + 0.5


def random_input(tokens: int, size_k: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    """On the current default device."""
    generator = torch.Generator("cpu").manual_seed(2)
    x = torch.randn(tokens, size_k, generator=generator, device="cpu")
    return x.to(dtype).to(torch.get_default_device())


def pack(codes: torch.Tensor) -> torch.Tensor:
    """int8 [N, K] -> uint8 [N, ceil(K / 4)], written out as the format is described."""
    rows, columns = codes.shape
    packed = torch.zeros(rows, -(-columns // 4), dtype=torch.uint8, device="cpu")
    for k in range(columns):
        code = codes[:, k].to(torch.uint8).clone()
        code[codes[:, k] < 0] = 2
        packed[:, k // 4] |= code << (2 * (k % 4))
    return packed


def dequantize(codes: torch.Tensor, scale: torch.Tensor | None) -> torch.Tensor:
    """float64 [N, K]; scale [N, groups], [N, 1], [1] or None."""
    weight = codes.double()
    if scale is None:
        return weight
    groups = scale.shape[1] if scale.ndim == 2 else 1
    scale = scale.double().reshape(-1, groups)
    return (weight.unflatten(1, (groups, -1)) * scale.unsqueeze(-1)).flatten(1)


def quantize_tokens(x: torch.Tensor) -> torch.Tensor:
    """float64 [M, K]: each token rounded to its 8-bit steps. Float32 decides which step."""
    x = x.cpu().float()
    top = x.abs().amax(-1, keepdim=True).clamp(min=1e-5)
    return (x * 127 / top).round().clamp(-128, 127).double() * top.double() / 127


def assert_product(
    out: torch.Tensor,
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None = None,
) -> None:
    """`out` is x @ weight.T + bias (float64) up to one rounding and float32 sums."""
    x = x.cpu().double()
    exact = x @ weight.T
    size = x.abs() @ weight.abs().T
    if bias is not None:
        exact = exact + bias.cpu().double()
        size = size + bias.cpu().double().abs()
    assert out.shape == exact.shape
    rounding = torch.finfo(out.dtype).eps / 2
    allowed = rounding * exact.abs() + (x.shape[-1] + 4) * 2.0**-24 * size * (1 + rounding)
    excess = (out.cpu().double() - exact).abs() - allowed
    assert excess.max() <= 0, f"off by {excess.max().item():.3g} more than rounding explains"
