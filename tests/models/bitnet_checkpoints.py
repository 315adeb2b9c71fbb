# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Small BitNet checkpoints in the layout that people publish, and what Transformers makes of them.

The weights are random. Beside each checkpoint stands what the model in Transformers, with its own
BitNet layers, gives in float32: the greedy continuation of a prompt, and the logits of each step;
`half_logits` are those of bfloat16 for the same tokens (of AutoBitLinear models).

Run with the Python of an environment that has the built wheel:

    python bitnet_checkpoints.py OUTPUT_DIR NAME...

A name is a model and a seed ("bitnet-0"), or one of BAD.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from transformers import (
    AutoModelForCausalLM,
    BitNetConfig,
    BitNetQuantConfig,
    LlamaConfig,
    Qwen2Config,
    Qwen3Config,
)
from transformers.integrations.bitnet import AutoBitLinear, pack_weights, replace_with_bitnet_linear

PROMPT_TOKENS, NEW_TOKENS = 8, 64
VOCABULARY = 128
# What the layers add outweighs the embedding it is added to: a model repeats itself otherwise.
SCALE, EMBEDDING = 0.3, 0.1
SIZES: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 128,
    "intermediate_size": 192,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 128,
    "bos_token_id": None,
    "eos_token_id": None,
    "pad_token_id": None,
}


@dataclass
class Model:
    """A model that people publish, but for its sizes."""

    config: Callable[..., Any]
    quantization: dict[str, Any]
    options: dict[str, Any] = field(default_factory=dict)


AUTO = {"linear_class": "autobitlinear", "quantization_mode": "offline"}
ONLINE = {"linear_class": "autobitlinear", "quantization_mode": "online"}
NULL = {"modules_to_not_convert": None}
NORMS = {"use_rms_norm": True, "rms_norm_eps": 1e-5}
MODELS = {
    "bitnet": Model(BitNetConfig, AUTO, {"tie_word_embeddings": True}),
    "bitnet-online": Model(BitNetConfig, ONLINE, {"tie_word_embeddings": True}),
    "llama": Model(LlamaConfig, NULL),
    "falcon": Model(LlamaConfig, {"modules_to_not_convert": ["lm_head"]}, {"head_dim": 64}),
    "qwen2": Model(Qwen2Config, NULL),
    "qwen2-auto": Model(Qwen2Config, AUTO),
    "qwen3": Model(Qwen3Config, NULL, {"head_dim": 32, "tie_word_embeddings": True}),
    "qwen3-norms": Model(Qwen3Config, AUTO | NORMS, {"head_dim": 32}),
}
BAD = [
    "bad-code-3",
    "bad-float-weight",
    "bad-missing-scale",
    "bad-double-scale",
    "bad-nan-scale",
    "bad-hadamard",
    "bad-truncated",
]
Q_PROJ = "model.layers.1.self_attn.q_proj"


def make_config(model: Model) -> Any:
    config = model.config(dtype="bfloat16", **SIZES | model.options)
    config.architectures = [model.config.__name__.removesuffix("Config") + "ForCausalLM"]
    return config


def make_tensors(model: Model, reference: Any, seed: int) -> dict[str, torch.Tensor]:
    """Random tensors of a checkpoint for a model that has Transformers' BitNet layers."""
    generator = torch.Generator().manual_seed(seed)
    tensors = {}
    for name, parameter in reference.state_dict().items():
        shape = parameter.shape
        module = reference.get_submodule(name.rpartition(".")[0])
        if name == "lm_head.weight" and reference.config.tie_word_embeddings:
            continue
        if name.endswith("weight_scale"):
            size = (0.5 + torch.rand(1, generator=generator)) * SCALE
            auto = model.quantization.get("linear_class") == "autobitlinear"
            tensors[name] = size if auto else 1 / size
        elif "norm" in name:
            tensors[name] = 0.5 + torch.rand(shape, generator=generator)
        elif type(module).__name__ in ("BitLinear", "AutoBitLinear") and name.endswith("weight"):
            rows = (module.out_features, module.in_features)
            if model.quantization.get("quantization_mode") == "online":
                tensors[name] = torch.randn(rows, generator=generator) * SCALE
            else:
                codes = torch.randint(-1, 2, rows, generator=generator, dtype=torch.int8)
                tensors[name] = pack_weights(codes)
        elif name.endswith("bias"):
            tensors[name] = torch.randn(shape, generator=generator) * 2
        else:
            tensors[name] = torch.randn(shape, generator=generator) * EMBEDDING
    return {
        name: tensor.bfloat16() if tensor.is_floating_point() else tensor
        for name, tensor in tensors.items()
    }


def write(config: Any, model: Model, tensors: dict[str, torch.Tensor], path: Path) -> None:
    """Two files: the scales are in another than the weights."""
    path.mkdir(parents=True)
    text = config.to_dict() | {
        "quantization_config": {"quant_method": "bitnet"} | model.quantization
    }
    (path / "config.json").write_text(json.dumps(text, indent=2))
    scales = {name: tensor for name, tensor in tensors.items() if name.endswith("weight_scale")}
    weights = {name: tensor for name, tensor in tensors.items() if name not in scales}
    files = {
        "model-00001-of-00002.safetensors": weights,
        "model-00002-of-00002.safetensors": scales,
    }
    index = {name: file for file, part in files.items() for name in part}
    for file, part in files.items():
        if part:
            save_file(part, path / file, {"format": "pt"})
    (path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": index}))


def make_reference(model: Model, config: Any) -> Any:
    """The model with Transformers' BitNet layers, without weights."""
    reference = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    skipped = model.quantization.get("modules_to_not_convert") or ["lm_head"]
    return replace_with_bitnet_linear(
        reference, skipped, BitNetQuantConfig(**model.quantization)
    ).eval()


def load(reference: Any, tensors: dict[str, torch.Tensor]) -> None:
    """Give a model the tensors of a checkpoint, in float32."""
    state = {
        name: tensor.float() if tensor.is_floating_point() else tensor
        for name, tensor in tensors.items()
    }
    if reference.config.tie_word_embeddings:
        state["lm_head.weight"] = state["model.embed_tokens.weight"]
    reference.load_state_dict(state, assign=True)


def continue_prompt(reference: Any, seed: int) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(100 + seed)
    tokens = torch.randint(VOCABULARY, (1, PROMPT_TOKENS), generator=generator)
    steps = []
    with torch.no_grad():
        for _ in range(NEW_TOKENS):
            logits = reference(tokens, use_cache=False).logits[:, -1]
            steps.append(logits)
            tokens = torch.cat([tokens, logits.argmax(-1, keepdim=True)], dim=1)
        result = {"tokens": tokens[0], "logits": torch.cat(steps)}
        # The other class has another arithmetic in half precision unless it is compiled.
        if isinstance(reference.model.layers[0].mlp.down_proj, AutoBitLinear):
            half = reference.bfloat16()(tokens[:, :-1]).logits[0, PROMPT_TOKENS - 1 :]
            result["half_logits"] = half.float()
    return result


def write_model(name: str, path: Path) -> None:
    kind, _, seed = name.rpartition("-")
    model = MODELS[kind]
    config = make_config(model)
    reference = make_reference(model, config)
    tensors = make_tensors(model, reference, int(seed))
    write(config, model, tensors, path)
    load(reference, tensors)
    save_file(continue_prompt(reference, int(seed)), path.with_name(f"{name}.safetensors"))


def write_bad(name: str, path: Path) -> None:
    model = MODELS["llama"]
    config = make_config(model)
    tensors = make_tensors(model, make_reference(model, config), seed=0)
    match name:
        case "bad-code-3":
            tensors[f"{Q_PROJ}.weight"][3, 5] |= 3 << 2
        case "bad-float-weight":
            tensors[f"{Q_PROJ}.weight"] = torch.ones(128, 128)
        case "bad-missing-scale":
            del tensors[f"{Q_PROJ}.weight_scale"]
        case "bad-nan-scale":
            tensors[f"{Q_PROJ}.weight_scale"].fill_(float("nan"))
        case "bad-hadamard":
            model = Model(model.config, model.quantization | {"hadamard_block_size": 128})
    write(config, model, tensors, path)
    first, second = path.glob("*.safetensors")
    match name:
        case "bad-double-scale":
            # Nothing says which of the two files is right.
            (path / "model.safetensors.index.json").unlink()
            scale = {f"{Q_PROJ}.weight_scale": torch.ones(1)}
            save_file(scale, path / "model-00003-of-00003.safetensors", {"format": "pt"})
        case "bad-truncated":
            file = max(first, second, key=lambda file: file.stat().st_size)
            file.write_bytes(file.read_bytes()[:-100])


def main() -> None:
    output, *names = sys.argv[1:]
    torch.set_num_threads(1)
    # What Transformers would compile is the same without, and starts at once.
    torch.compiler.set_stance("force_eager")
    for name in names:
        (write_bad if name in BAD else write_model)(name, Path(output) / name)


if __name__ == "__main__":
    main()
