# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Small checkpoints of int4 weights in the published layouts: right names, shapes and types."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

N, K, GROUP = 64, 256, 128
CONFIGS: dict[str, dict[str, Any]] = {
    "compressed-tensors": {"quant_method": "compressed-tensors", "format": "pack-quantized"},
    "gptq": {"quant_method": "gptq", "bits": 4, "group_size": GROUP, "sym": True},
    "awq": {"quant_method": "awq", "bits": 4, "group_size": GROUP, "zero_point": True},
    "auto-round": {
        "quant_method": "auto-round",
        "bits": 4,
        "group_size": GROUP,
        "sym": True,
        "packing_format": "auto_round:auto_gptq",
    },
}
TYPES = {"float16": "F16", "float32": "F32", "uint16": "BF16", "int32": "I32", "int64": "I64"}


def scales(groups: int = K // GROUP, negative: float = 0.0) -> np.ndarray:
    """Float32 [N, groups] scales of 1/128, the first share of the rows negative."""
    values = np.full((N, groups), 1 / 128, np.float32)
    values[: round(N * negative)] *= -1
    return values


def bf16(values: np.ndarray) -> np.ndarray:
    """Float32 values that bf16 holds exactly, as the 16 bits a file stores."""
    return (values.view(np.uint32) >> 16).astype(np.uint16)


def layer(kind: str, values: np.ndarray, *, bits: int = 4, zeros: bool = False) -> dict[str, Any]:
    """Tensors of one layer [N, K] with these scales [N, groups], by the last part of their name."""
    groups = values.shape[1]
    if kind == "compressed-tensors":
        tensors = {
            "weight_packed": np.zeros((N, K * bits // 32), np.int32),
            "weight_scale": bf16(values),
            "weight_shape": np.array([N, K], np.int64),
        }
        if zeros:
            tensors["weight_zero_point"] = np.zeros((N * bits // 32, groups), np.int32)
        return tensors
    transposed = np.ascontiguousarray(values.T).astype(np.float16)
    qzeros = np.zeros((groups, N * bits // 32), np.int32)
    if kind == "awq":
        qweight = np.zeros((K, N * bits // 32), np.int32)
        return {"qweight": qweight, "scales": transposed, "qzeros": qzeros}
    return {
        "qweight": np.zeros((K * bits // 32, N), np.int32),
        "scales": transposed,
        "qzeros": qzeros,
        "g_idx": np.arange(K, dtype=np.int32) * groups // K,
    }


def write_safetensors(path: Path, tensors: dict[str, np.ndarray]) -> None:
    """A safetensors file."""
    header, offset = {}, 0
    for name, t in tensors.items():
        header[name] = {
            "dtype": TYPES[t.dtype.name],
            "shape": list(t.shape),
            "data_offsets": [offset, offset + t.nbytes],
        }
        offset += t.nbytes
    text = json.dumps(header).encode()
    data = b"".join(np.ascontiguousarray(t).tobytes() for t in tensors.values())
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def write(folder: Path, kind: str, layers: dict[str, dict[str, Any]], **config: Any) -> Path:
    """A checkpoint folder with these layers, one a file; `config` changes its configuration."""
    folder.mkdir(exist_ok=True)
    quantization = CONFIGS[kind] | config
    (folder / "config.json").write_text(json.dumps({"quantization_config": quantization}))
    for i, (name, tensors) in enumerate(layers.items()):
        write_safetensors(
            folder / f"model-{i:05d}.safetensors", {f"{name}.{k}": v for k, v in tensors.items()}
        )
    return folder
