# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Small GGUF files for the tests, written by the gguf package."""

from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch
from ternary_directories import CONFIG, Tensors

NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "self_attn.attn_sub_norm": "attn_sub_norm",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "mlp.ffn_sub_norm": "ffn_sub_norm",
}


def config(model_type: str = "llama", architecture: str = "LlamaForCausalLM") -> dict[str, Any]:
    """Rows of 256, as the blocks are."""
    return CONFIG | {
        "architectures": [architecture],
        "model_type": model_type,
        "hidden_size": 256,
        "intermediate_size": 512,
        "head_dim": 64,
    }


def gguf_name(name: str) -> str:
    module, _, part = name.rpartition(".")
    if module in NAMES:
        return f"{NAMES[module]}.{part}"
    layer, own = module.removeprefix("model.layers.").split(".", 1)
    return f"blk.{layer}.{NAMES[own]}.{part}"


def interleave(weight: torch.Tensor, heads: int) -> torch.Tensor:
    """The two halves of each head row by row, as llama.cpp's converter has q and k."""
    size = weight.shape[0] // heads
    rows = [
        head * size + half * size // 2 + row
        for head in range(heads)
        for row in range(size // 2)
        for half in range(2)
    ]
    return weight[rows]


def q2_0(weight: np.ndarray, group: int) -> np.ndarray:
    """Blocks of a float16 scale and two bits a weight, the first in the low ones."""
    blocks = weight.reshape(-1, group)
    scale = np.abs(blocks).max(-1, keepdims=True).astype(np.float16)
    codes = (np.sign(blocks) + 1).astype(np.uint8).reshape(-1, group // 4, 4)
    packed = codes[..., 0] | codes[..., 1] << 2 | codes[..., 2] << 4 | codes[..., 3] << 6
    data = np.concatenate([scale.view(np.uint8), packed.astype(np.uint8)], axis=-1)
    return data.reshape(weight.shape[0], -1)


def quantize(weight: torch.Tensor, kind: str) -> tuple[np.ndarray, int]:
    """Bytes of a matrix and the number of their type; Q2_0 with groups as Q2_0:64."""
    data = weight.float().numpy()
    if kind.startswith("Q2_0"):
        return q2_0(data, int(kind.partition(":")[2])), 42
    number = gguf.GGMLQuantizationType[kind]
    return gguf.quantize(data, number), number


def write_gguf(
    path: Path,
    tensors: Tensors,
    settings: dict[str, Any],
    kind: str = "TQ2_0",
    kinds: dict[str, str] | None = None,
    metadata: dict[str, Any] | None = None,
) -> Path:
    """A GGUF of a model whose tensors have their Hugging Face names.

    Matrices are of `kind`, embedding and lm_head F16 and norms F32 unless `kinds` says
    otherwise of a tensor.
    """
    arch = settings["model_type"]
    writer = gguf.GGUFWriter(path, arch)
    writer.add_block_count(settings["num_hidden_layers"])
    writer.add_context_length(settings["max_position_embeddings"])
    writer.add_embedding_length(settings["hidden_size"])
    writer.add_feed_forward_length(settings["intermediate_size"])
    writer.add_head_count(settings["num_attention_heads"])
    writer.add_head_count_kv(settings["num_key_value_heads"])
    writer.add_key_length(settings["head_dim"])
    writer.add_layer_norm_rms_eps(settings["rms_norm_eps"])
    writer.add_rope_freq_base(settings["rope_theta"])
    writer.add_token_list(["a", "b"])
    writer.add_bos_token_id(settings["bos_token_id"])
    writer.add_eos_token_id(settings["eos_token_id"])
    for key, value in (metadata or {}).items():
        add = writer.add_uint32 if isinstance(value, int) else writer.add_string
        add(key, value)
    for name, tensor in tensors.items():
        if arch == "llama" and ".q_proj." in name:
            tensor = interleave(tensor, settings["num_attention_heads"])
        if arch == "llama" and ".k_proj." in name:
            tensor = interleave(tensor, settings["num_key_value_heads"])
        is_end = name.startswith(("lm_head", "model.embed"))
        own = "F16" if is_end else "F32" if tensor.ndim == 1 else kind
        own = (kinds or {}).get(name, own)
        if own in ("F16", "F32"):
            dtype = np.float16 if own == "F16" else np.float32
            writer.add_tensor(gguf_name(name), tensor.float().numpy().astype(dtype))
            continue
        data, number = quantize(tensor, own)
        if number == 42:
            # The package has no Q2_0: say a type of one byte, and put the number in after.
            writer.add_tensor(gguf_name(name), data, raw_dtype=gguf.GGMLQuantizationType.I8)
            info = writer.tensors[-1][gguf_name(name)]
            info.dtype, info.shape = 42, tuple(tensor.shape)  # type: ignore[assignment]
        else:
            writer.add_tensor(gguf_name(name), data, raw_dtype=number)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
