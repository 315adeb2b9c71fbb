# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Small model directories for the tests of vllm-ternary, and what their results hold."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

Tensors = dict[str, torch.Tensor]

CONFIG: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "vocab_size": 96,
    "max_position_embeddings": 256,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "hidden_act": "silu",
    "tie_word_embeddings": False,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "dtype": "bfloat16",
}
EMBEDDING, LM_HEAD = "model.embed_tokens", "lm_head"


def projections(config: dict[str, Any] = CONFIG) -> dict[str, tuple[int, int]]:
    """Names and sizes [N, K] of the linear layers."""
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    heads = config["num_attention_heads"] * config["head_dim"]
    kv_heads = config["num_key_value_heads"] * config["head_dim"]
    sizes = {
        "self_attn.q_proj": (heads, hidden),
        "self_attn.k_proj": (kv_heads, hidden),
        "self_attn.v_proj": (kv_heads, hidden),
        "self_attn.o_proj": (hidden, heads),
        "mlp.gate_proj": (inner, hidden),
        "mlp.up_proj": (inner, hidden),
        "mlp.down_proj": (hidden, inner),
    }
    return {
        f"model.layers.{layer}.{name}": size
        for layer in range(config["num_hidden_layers"])
        for name, size in sizes.items()
    }


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def random_codes(rows: int, columns: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(-1, 2, (rows, columns), generator=generator(seed), dtype=torch.int8)


def floats(config: dict[str, Any] = CONFIG, dtype: torch.dtype = torch.bfloat16) -> Tensors:
    """What is not a linear layer: norms, embedding and lm_head."""
    hidden, vocabulary = config["hidden_size"], config["vocab_size"]
    tensors = {
        f"{EMBEDDING}.weight": torch.randn(vocabulary, hidden, generator=generator(1)),
        "model.norm.weight": torch.rand(hidden, generator=generator(2)) + 0.5,
    }
    if not config.get("tie_word_embeddings"):
        tensors[f"{LM_HEAD}.weight"] = torch.randn(vocabulary, hidden, generator=generator(3))
    for layer in range(config["num_hidden_layers"]):
        for name in ("input_layernorm", "post_attention_layernorm"):
            norm = torch.rand(hidden, generator=generator(4 + layer)) + 0.5
            tensors[f"model.layers.{layer}.{name}.weight"] = norm
    return {name: tensor.to(dtype) for name, tensor in tensors.items()}


def dense(config: dict[str, Any] = CONFIG, dtype: torch.dtype = torch.bfloat16) -> Tensors:
    """A model with random weights."""
    tensors = floats(config, dtype)
    for seed, (name, size) in enumerate(projections(config).items()):
        weight = torch.randn(size, generator=generator(seed)) * size[1] ** -0.5
        tensors[f"{name}.weight"] = weight.to(dtype)
    return tensors


def scales(size: tuple[int, int], group_size: int, seed: int = 0) -> torch.Tensor:
    """Random scales [N, G], [N, 1] or [1] that half precision holds."""
    rows, columns = size
    shape = {0: (1,), -1: (rows, 1)}.get(group_size, (rows, columns // max(group_size, 1)))
    values = torch.rand(shape, generator=generator(seed)) + 0.5
    return (values * columns**-0.5).bfloat16().float()


def dequantize(codes: torch.Tensor, scale: torch.Tensor | None) -> torch.Tensor:
    """float32 [N, K]."""
    if scale is None:
        return codes.float()
    groups = scale.shape[1] if scale.ndim == 2 else 1
    scale = scale.float().reshape(-1, groups, 1)
    return (codes.float().unflatten(1, (groups, -1)) * scale).flatten(1)


def ternary_values(
    group_size: int = 0,
    config: dict[str, Any] = CONFIG,
    dtype: torch.dtype = torch.bfloat16,
) -> Tensors:
    """A floating point model whose linear layers hold ternary values."""
    tensors = floats(config, dtype)
    for seed, (name, size) in enumerate(projections(config).items()):
        weight = dequantize(random_codes(*size, seed), scales(size, group_size, seed))
        tensors[f"{name}.weight"] = weight.to(dtype)
    return tensors


def pack(codes: torch.Tensor) -> torch.Tensor:
    """vLLM's packed format, written out as it is described."""
    packed = torch.zeros(codes.shape[0], -(-codes.shape[1] // 4), dtype=torch.uint8)
    for k in range(codes.shape[1]):
        code = codes[:, k].to(torch.uint8).clone()
        code[codes[:, k] < 0] = 2
        packed[:, k // 4] |= code << (2 * (k % 4))
    return packed


def unpack(packed: torch.Tensor, columns: int) -> torch.Tensor:
    """The inverse of pack."""
    codes = torch.zeros(packed.shape[0], columns, dtype=torch.int8)
    for k in range(columns):
        code = packed[:, k // 4] >> (2 * (k % 4)) & 3
        assert code.max() < 3
        codes[:, k] = (code == 1).to(torch.int8) - (code == 2).to(torch.int8)
    return codes


def write_model(
    path: Path,
    tensors: Tensors,
    config: dict[str, Any] = CONFIG,
    quantization: dict[str, Any] | None = None,
    shards: int = 1,
) -> Path:
    """A model directory; with several shards, tensor i is in shard i modulo their number."""
    path.mkdir(parents=True)
    if quantization is not None:
        config = config | {"quantization_config": quantization}
    (path / "config.json").write_text(json.dumps(config))
    (path / "tokenizer_config.json").write_text('{"model_max_length": 256}')
    if shards == 1:
        save_file(tensors, path / "model.safetensors")
        return path
    weight_map = {}
    for number in range(shards):
        name = f"model-{number + 1:05d}-of-{shards:05d}.safetensors"
        part = {key: tensors[key] for key in sorted(tensors)[number::shards]}
        save_file(part, path / name)
        weight_map |= dict.fromkeys(part, name)
    index = {"metadata": {}, "weight_map": weight_map}
    (path / "model.safetensors.index.json").write_text(json.dumps(index))
    return path


def read_config(path: Path) -> dict[str, Any]:
    config: dict[str, Any] = json.loads((path / "config.json").read_text())
    return config


def read_tensors(path: Path) -> Tensors:
    """All tensors of a model directory, through the safetensors package."""
    tensors: Tensors = {}
    for file in sorted(path.glob("*.safetensors")):
        tensors |= load_file(file)
    return tensors


def read_weight(tensors: Tensors, name: str, columns: int) -> torch.Tensor:
    """float32 [N, K] of a ternary matrix of a result, packed or not."""
    packed = tensors.get(f"{name}.weight_packed")
    codes = tensors[f"{name}.weight"] if packed is None else unpack(packed, columns)
    return dequantize(codes, tensors.get(f"{name}.weight_scale"))


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Models this small lose by threads, most of all where others use the cores too."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@one_thread()
def convert(*arguments: object) -> int:
    """Run the command in this process."""
    from vllm.ternary.cli import main

    return main(["convert", *map(str, arguments)])
