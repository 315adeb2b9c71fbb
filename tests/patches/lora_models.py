# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""LoRA adapters as PEFT writes them, and models that are served with and without one.

The reference is a model of transformers in float32 with the product of the adapter's matrices added
to its weights. Run as a program, it continues a prompt with vLLM instead, without and with the
adapter:

    python lora_models.py CHECKPOINT ADAPTER DTYPE

It prints a line of JSON for each of the two: the tokens that follow and the log-probabilities of
the whole vocabulary behind each.
"""

import json
import sys
from pathlib import Path
from typing import Any

import engine_process
import torch
from safetensors.torch import save_file
from ternary_directories import CONFIG as SMALL
from ternary_directories import (
    EMBEDDING,
    LM_HEAD,
    Tensors,
    generator,
    one_thread,
    projections,
    random_codes,
)
from ternary_models import GPU_MEMORY
from transformers.integrations.bitnet import pack_weights

# With heads that attention on a CPU takes.
CONFIG = SMALL | {
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 32,
    "bos_token_id": None,
    "eos_token_id": None,
}
PROMPT = [5, 81, 17, 3, 60]
TOKENS = 8
RANK, ALPHA = 4, 8
# By module, the matrices A [RANK, K] and B [N, RANK].
Adapter = dict[str, tuple[torch.Tensor, torch.Tensor]]


def add_bitnet(config: dict[str, Any], packed: Tensors, divides: bool) -> Tensors:
    """Puts random projections, packed as bitnet's linear classes have them, beside the other
    tensors of a checkpoint. Returns those of the dense model."""
    merged = dict(packed)
    for seed, (name, size) in enumerate(projections(config).items()):
        codes = random_codes(*size, seed)
        scale = torch.tensor([8.0 + seed % 3])
        # The packer changes what it is given.
        packed[f"{name}.weight"] = pack_weights(codes.clone())
        packed[f"{name}.weight_scale"] = scale if divides else 1 / scale
        merged[f"{name}.weight"] = codes / scale if divides else codes * (1 / scale)
    return merged


def make_adapter(sizes: dict[str, tuple[int, int]]) -> Adapter:
    """For modules with N outputs and K inputs; a token of an embedding is an input."""
    adapter = {}
    for seed, (name, (rows, columns)) in enumerate(sizes.items(), 100):
        spread = 0.3 if name == EMBEDDING else columns**-0.5
        a = torch.randn(RANK, columns, generator=generator(seed)) * spread
        b = torch.randn(rows, RANK, generator=generator(-seed)) * 0.3
        adapter[name] = (a.half().float(), b.half().float())
    return adapter


def write_adapter(path: Path, adapter: Adapter) -> Path:
    path.mkdir()
    tensors = {}
    for name, (a, b) in adapter.items():
        prefix = f"base_model.model.{name}.lora_"
        names = ("embedding_A", "embedding_B") if name == EMBEDDING else ("A.weight", "B.weight")
        tensors |= {prefix + names[0]: a, prefix + names[1]: b}
    save_file(tensors, path / "adapter_model.safetensors")
    config = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "r": RANK,
        "lora_alpha": ALPHA,
        "bias": "none",
        "target_modules": sorted({name.rpartition(".")[2] for name in adapter}),
    }
    (path / "adapter_config.json").write_text(json.dumps(config))
    return path


def merge(tensors: Tensors, adapter: Adapter) -> Tensors:
    """A dense model's tensors with an adapter in them. The lm_head does not follow the embedding
    that it is tied to."""
    merged = {LM_HEAD + ".weight": tensors[f"{EMBEDDING}.weight"]} | tensors
    for name, (a, b) in adapter.items():
        product = (b @ a).T if name == EMBEDDING else b @ a
        merged[f"{name}.weight"] = merged[f"{name}.weight"] + product * (ALPHA / RANK)
    return merged


@one_thread()
def logprobs(config: dict[str, Any], tensors: Tensors, tokens: list[int]) -> torch.Tensor:
    """[TOKENS, vocabulary]: what transformers says behind the prompt and each of the tokens."""
    from transformers import AutoConfig, AutoModelForCausalLM

    settings = AutoConfig.for_model(**config | {"tie_word_embeddings": False})
    model = AutoModelForCausalLM.from_config(settings, dtype=torch.float32).eval()
    model.load_state_dict({name: tensor.float() for name, tensor in tensors.items()})
    with torch.no_grad():
        logits: torch.Tensor = model(torch.tensor([PROMPT + tokens])).logits[0]
    return logits[len(PROMPT) - 1 : -1].log_softmax(-1)


def assert_served(
    folder: Path,
    checkpoint: Path,
    config: dict[str, Any],
    tensors: Tensors,
    adapter: Adapter,
    dtype: str,
    tolerance: float,
) -> None:
    """vLLM's log-probabilities are those of the dense model, without and with the adapter."""
    # In a process of its own.
    results = engine_process.run(
        __file__, checkpoint, write_adapter(folder / "adapter", adapter), dtype
    )
    for result, applied in zip(results, ({}, adapter), strict=True):
        found = torch.tensor(result["logprobs"])
        expected = logprobs(config, merge(tensors, applied), result["tokens"])
        torch.testing.assert_close(found, expected, rtol=0, atol=tolerance)
        error = (found - expected).abs().max()
        # Each module matters: without any one of them the numbers are others.
        for name in applied:
            others = {other: pair for other, pair in adapter.items() if other != name}
            without = logprobs(config, merge(tensors, others), result["tokens"])
            assert (without - found).abs().max() > 2 * error, name


def main() -> None:
    from vllm import LLM, SamplingParams
    from vllm.lora.request import LoRARequest

    checkpoint, adapter, dtype = sys.argv[1:]
    llm = LLM(
        checkpoint,
        skip_tokenizer_init=True,
        dtype=dtype,
        max_model_len=64,
        max_num_seqs=4,
        max_logprobs=-1,
        enable_lora=True,
        max_lora_rank=8,
        # On a GPU as users serve it: compiled, and in CUDA graphs.
        enforce_eager=not torch.cuda.is_available(),
        **GPU_MEMORY,
    )
    greedy = SamplingParams(
        temperature=0, max_tokens=TOKENS, logprobs=-1, detokenize=False, ignore_eos=True
    )
    requests = [None, LoRARequest("adapter", 1, adapter)]
    # vLLM 0.32.0 on a CPU gives all of a batch the adapter that one has (vLLM pull request 48421).
    batches = [requests] if torch.cuda.is_available() else [[one] for one in requests]
    answers = [
        answer
        for batch in batches
        for answer in llm.generate(
            [{"prompt_token_ids": PROMPT}] * len(batch), greedy, lora_request=batch, use_tqdm=False
        )
    ]
    for answer in answers:
        output = answer.outputs[0]
        result = {
            "tokens": list(output.token_ids),
            "logprobs": [[step[i].logprob for i in range(len(step))] for step in output.logprobs],
        }
        print("RESULT " + json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
