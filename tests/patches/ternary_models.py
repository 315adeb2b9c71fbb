# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Tiny random ternary models as checkpoints, and what transformers computes with them.

The reference is a model of transformers in float32 whose weights are the dequantized ones. Run as a
program, it continues prompts with vLLM instead, one checkpoint after the other:

    python ternary_models.py PROMPTS_JSON CHECKPOINT...

Prompts are lists of token ids. It prints a line of JSON for each checkpoint: the tokens that follow
each prompt, and the log-probabilities of the whole vocabulary behind each, or the error it gave.
"""

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import engine_process
import pytest
import torch
from safetensors.torch import save_file

# On a GPU they are served by the kernels.
GPU_MARK = [pytest.mark.gpu] if torch.cuda.is_available() else []
# Not measured: other tests may take and give back memory at the same time.
GPU_MEMORY: dict[str, Any] = {}
if torch.cuda.is_available():
    GPU_MEMORY = {"gpu_memory_utilization": 0.02, "kv_cache_memory_bytes": 64 << 20}
TOKENS = 12
PROMPTS = [[5, 81, 17, 3, 60], [44, 2, 2, 71, 9, 33, 90, 12, 28]]


@dataclass
class Model:
    """A checkpoint in memory: codes and scales of what is ternary, tensors of what is not."""

    config: Any
    group_size: int | None
    codes: dict[str, torch.Tensor] = field(default_factory=dict)
    scales: dict[str, torch.Tensor] = field(default_factory=dict)
    tensors: dict[str, torch.Tensor] = field(default_factory=dict)

    def dense(self) -> dict[str, torch.Tensor]:
        """The float32 state of the same model without quantization."""
        dense = {name: tensor.float() for name, tensor in self.tensors.items()}
        for name, codes in self.codes.items():
            scale = self.scales[name].float() if name in self.scales else torch.ones(1)
            scale = scale.reshape(1 if scale.numel() == 1 else codes.shape[0], -1, 1)
            weight = codes.float().unflatten(1, (scale.shape[1], -1)) * scale
            dense[f"{name}.weight"] = weight.flatten(1)
        return dense


def make_model(model_class: Any, config: Any, group_size: int | None, seed: int) -> Model:
    """Ternary wherever the model has a matrix, but for the routers of its experts."""
    generator = torch.Generator().manual_seed(seed)
    with torch.device("meta"):
        shapes = {name: tensor.shape for name, tensor in model_class(config).state_dict().items()}
    model = Model(config, group_size)
    for name, shape in shapes.items():
        module = name.removesuffix(".weight")
        if config.tie_word_embeddings and module == "lm_head":
            continue
        if len(shape) == 1:
            spread = torch.rand(shape, generator=generator) + 0.5
            model.tensors[name] = spread.bfloat16()
        elif module.endswith("mlp.gate"):
            model.tensors[name] = torch.randn(shape, generator=generator).bfloat16()
        else:
            parts = split_experts(module, tuple(shape))
            for part, size in parts.items():
                add_matrix(model, part, size, generator)
    return model


def split_experts(module: str, shape: tuple[int, ...]) -> dict[str, tuple[int, int]]:
    """Names and sizes of the matrices that transformers may keep in one tensor of experts."""
    if len(shape) == 2:
        return {module: (shape[0], shape[1])}
    experts, projection = module.rsplit(".", 1)
    names = {"gate_up_proj": ("gate_proj", "up_proj"), "down_proj": ("down_proj",)}[projection]
    size = (shape[1] // len(names), shape[2])
    return {f"{experts}.{i}.{name}": size for i in range(shape[0]) for name in names}


def add_matrix(model: Model, name: str, shape: tuple[int, int], generator: torch.Generator) -> None:
    rows, columns = shape
    model.codes[name] = torch.randint(-1, 2, shape, generator=generator, dtype=torch.int8)
    if model.group_size is None:
        return
    sizes = {0: (1,), -1: (rows, 1)}.get(
        model.group_size, (rows, columns // max(model.group_size, 1))
    )
    spread = torch.rand(sizes, generator=generator) + 0.5
    # Small rows of the embedding leave most of the hidden states to the layers.
    unit = 0.1 if "embed_tokens" in name else columns**-0.5
    model.scales[name] = (spread * unit * 1.2).bfloat16()


def write_model(model: Model, path: Path, packed: bool = False, **quantization: Any) -> Path:
    """Write the checkpoint as two files: weights in one, scales in the other."""
    path.mkdir()
    config = model.config.to_dict() | {
        "architectures": [model.config.architectures[0]],
        "dtype": "float16",
        "quantization_config": {
            "quant_method": "ternary",
            "group_size": model.group_size,
            "format": "packed" if packed else "int8",
        }
        | quantization,
    }
    (path / "config.json").write_text(json.dumps(config))
    kind = "weight_packed" if packed else "weight"
    weights = {f"{name}.{kind}": pack(c) if packed else c for name, c in model.codes.items()}
    scales = {f"{name}.weight_scale": scale for name, scale in model.scales.items()}
    files = {"model-1.safetensors": model.tensors | scales, "model-2.safetensors": weights}
    for name, tensors in files.items():
        save_file(tensors, path / name)
    index = {"weight_map": {key: name for name, tensors in files.items() for key in tensors}}
    (path / "model.safetensors.index.json").write_text(json.dumps(index))
    return path


def pack(codes: torch.Tensor) -> torch.Tensor:
    """int8 [N, K] of -1, 0, 1 -> uint8 [N, ceil(K / 4)], the packed format."""
    bits = torch.where(codes < 0, 2, codes.to(torch.int32))
    bits = torch.nn.functional.pad(bits, (0, -codes.shape[1] % 4)).unflatten(1, (-1, 4))
    return (bits << torch.tensor([0, 2, 4, 6])).sum(-1).to(torch.uint8)


def reference(model_class: Any, model: Model) -> tuple[list[list[int]], list[torch.Tensor]]:
    """For each of PROMPTS, the greedy tokens and the log-probabilities [TOKENS, vocabulary]."""
    network = model_class(model.config).float().eval()
    state = dict(model.dense())
    for name in network.state_dict():
        if ".experts." in name and name not in state:
            state[name] = join_experts(name, state)
    missing, unexpected = network.load_state_dict(state, strict=False)
    assert set(missing) <= {"lm_head.weight"} and all(".experts." in name for name in unexpected)
    network.tie_weights()
    tokens, logprobs = [], []
    for prompt in PROMPTS:
        ids, steps = list(prompt), []
        for _ in range(TOKENS):
            with torch.no_grad():
                logits = network(torch.tensor([ids])).logits[0, -1]
            steps.append(logits.log_softmax(-1))
            ids.append(int(logits.argmax()))
        tokens.append(ids[len(prompt) :])
        logprobs.append(torch.stack(steps))
    return tokens, logprobs


def join_experts(name: str, state: dict[str, torch.Tensor]) -> torch.Tensor:
    experts, projection = name.rsplit(".", 1)
    parts = {"gate_up_proj": ("gate_proj", "up_proj"), "down_proj": ("down_proj",)}[projection]
    count = len([key for key in state if key.startswith(f"{experts}.") and parts[0] in key])
    return torch.stack(
        [torch.cat([state[f"{experts}.{i}.{part}.weight"] for part in parts]) for i in range(count)]
    )


def margin(logprobs: list[torch.Tensor]) -> float:
    """Smallest distance of a greedy token to the next best."""
    top = torch.cat(logprobs).topk(2).values
    return (top[:, 0] - top[:, 1]).min().item()


def assert_same(
    result: dict[str, Any], tokens: list[list[int]], logprobs: list[torch.Tensor]
) -> None:
    """vLLM's answer is that of the reference, up to what half precision explains."""
    assert "error" not in result, result["error"]
    assert result["tokens"] == tokens
    found = [torch.tensor(steps) for steps in result["logprobs"]]
    furthest = max((a - b).abs().max().item() for a, b in zip(found, logprobs, strict=True))
    # Further apart, the tokens might be the same only by luck.
    assert furthest < margin(logprobs) / 4, f"{furthest} of {margin(logprobs)}"


def generate(*paths: Path) -> dict[str, dict[str, Any]]:
    """By the name of the checkpoint, what vLLM prints for PROMPTS, in a process of its own."""
    results = engine_process.run(__file__, json.dumps(PROMPTS), *paths)
    return {result["name"]: result for result in results}


def main() -> None:
    from vllm import LLM, SamplingParams
    from vllm.distributed import cleanup_dist_env_and_memory

    prompts = [{"prompt_token_ids": ids} for ids in json.loads(sys.argv[1])]
    greedy = SamplingParams(
        temperature=0, max_tokens=TOKENS, logprobs=-1, detokenize=False, ignore_eos=True
    )
    for path in map(Path, sys.argv[2:]):
        result: dict[str, Any] = {"name": path.name}
        llm = None
        try:
            llm = LLM(
                str(path),
                skip_tokenizer_init=True,
                max_model_len=64,
                max_num_seqs=4,
                max_logprobs=-1,
                # On a GPU as users serve it: compiled, and in CUDA graphs.
                enforce_eager=not torch.cuda.is_available(),
                **GPU_MEMORY,
            )
            outputs = [
                answer.outputs[0] for answer in llm.generate(prompts, greedy, use_tqdm=False)
            ]
            result["tokens"] = [list(output.token_ids) for output in outputs]
            result["logprobs"] = [
                [[step[i].logprob for i in range(len(step))] for step in output.logprobs]
                for output in outputs
            ]
        except Exception as error:
            result["error"] = str(error)
        print("RESULT " + json.dumps(result), flush=True)
        del llm
        cleanup_dist_env_and_memory()


if __name__ == "__main__":
    main()
