# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A checkpoint's perplexity on a text, by vLLM and by transformers.

    python bench/perplexity.py MODEL
    python bench/perplexity.py MODEL --engine vllm --text FILE --tokens 4096 --dtype bfloat16
    python bench/perplexity.py MODEL --engine vllm --expect PERPLEXITY

The text's tokens are cut into pieces of --length that are scored each by itself, all tokens but a
piece's first. A line of JSON for each engine: nats a token, perplexity, seconds. The default text,
bench/models/small-lm/heldout.txt, is Python source that the small model did not learn from. With
--expect the exit code is 1 if a perplexity is off by more than 0.2 %, to gate a changed kernel.

vLLM takes an NVIDIA GPU, or VLLM_TARGET_DEVICE=cpu and the Python of a CPU try-out.
"""

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from needs import need, need_vllm_device
from serve_table import cache_bytes

HELD_OUT = Path(__file__).parent / "models" / "small-lm" / "heldout.txt"
TOLERANCE = 0.002
BATCH = 8


def pieces_of(model: Path, text: Path, tokens: int, length: int) -> list[list[int]]:
    """The first `tokens` tokens of a text (0: all of them) in pieces of `length`."""
    from tokenizers import Tokenizer

    ids = Tokenizer.from_file(str(model / "tokenizer.json")).encode(text.read_text("utf-8")).ids
    ids = ids[: tokens or len(ids)]
    pieces = [ids[i : i + length] for i in range(0, len(ids), length)]
    return [piece for piece in pieces if len(piece) > 1]


def batches(pieces: list[list[int]]) -> Iterator[list[list[int]]]:
    """Some pieces of one length at a time: transformers unpacks ternary weights for each."""
    for _, group in groupby(pieces, key=len):
        same = list(group)
        for start in range(0, len(same), BATCH):
            yield same[start : start + BATCH]


def load_transformers(model: Path, dtype: str) -> Any:
    """The model with transformers' own modules. Its bitnet loader wants accelerate, which the
    try-out lacks: there, the same steps by hand."""
    import torch
    from safetensors.torch import load_file
    from transformers import AutoConfig, AutoModelForCausalLM, BitNetQuantConfig
    from transformers.integrations.bitnet import AutoBitLinear, replace_with_bitnet_linear
    from transformers.utils import is_accelerate_available

    config = AutoConfig.from_pretrained(model)
    quantization = getattr(config, "quantization_config", None)
    is_bitnet = quantization is not None and quantization["quant_method"] == "bitnet"
    if not is_bitnet or is_accelerate_available():
        return AutoModelForCausalLM.from_pretrained(model, dtype=getattr(torch, dtype)).eval()

    lm = AutoModelForCausalLM.from_config(config, dtype=getattr(torch, dtype))
    settings = BitNetQuantConfig(**quantization)
    kept = [*(settings.modules_to_not_convert or []), "lm_head"]
    replace_with_bitnet_linear(lm, kept, settings)
    for module in lm.modules():
        if isinstance(module, AutoBitLinear):
            module.to(getattr(torch, dtype))  # it is made in torch's default type
    state: dict[str, torch.Tensor] = {}
    for path in model.glob("*.safetensors"):
        state |= load_file(path)
    state = {
        k: v.to(getattr(torch, dtype)) if v.is_floating_point() else v for k, v in state.items()
    }
    missing, unexpected = lm.load_state_dict(state, strict=False, assign=True)
    lm.tie_weights()
    if unexpected or [name for name in missing if name != "lm_head.weight"]:
        raise ValueError(f"{model}: tensors missing {missing}, unexpected {unexpected}")
    return lm.eval()


def by_transformers(model: Path, pieces: list[list[int]], dtype: str) -> float:
    """Sum of the negative log-likelihoods, on the CPU."""
    import torch
    from torch.nn.functional import cross_entropy

    total = 0.0
    # Its BitNet layers are decorated with torch.compile, which costs more than it saves here.
    with torch.no_grad(), torch.compiler.set_stance("force_eager"):
        lm = load_transformers(model, dtype)
        for batch in batches(pieces):
            tokens = torch.tensor(batch)
            logits = lm(tokens).logits[:, :-1].float().flatten(0, 1)
            total += float(cross_entropy(logits, tokens[:, 1:].flatten(), reduction="sum"))
    return total


def by_vllm(model: Path, pieces: list[list[int]], dtype: str, tensor_parallel: int) -> float:
    """Sum of the negative log-likelihoods, on what the installed vLLM runs on."""
    if tensor_parallel == 1:
        # With the engine in a process of its own this one now and then aborts as it ends.
        os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
    from vllm import LLM, SamplingParams, TokensPrompt

    length = max(map(len, pieces))
    cache = cache_bytes(json.loads((model / "config.json").read_text()), BATCH, length, length + 1)
    llm = LLM(
        str(model),
        dtype=dtype,
        max_model_len=length + 1,
        max_num_seqs=BATCH,
        max_num_batched_tokens=max(2048, length + 1),
        enforce_eager=True,
        enable_prefix_caching=False,
        # Not what vLLM measures to be free, which fails when others give memory back meanwhile.
        kv_cache_memory_bytes=cache * (2 if dtype == "float32" else 1),
        gpu_memory_utilization=0.01,
        tensor_parallel_size=tensor_parallel,
    )
    prompts = [TokensPrompt(prompt_token_ids=piece) for piece in pieces]
    params = SamplingParams(max_tokens=1, temperature=0, prompt_logprobs=0)
    total = 0.0
    for answer in llm.generate(prompts, params, use_tqdm=False):
        positions = zip(answer.prompt_token_ids, answer.prompt_logprobs, strict=True)
        total -= sum(chances[token].logprob for token, chances in positions if chances is not None)
    return total


ENGINES = ["transformers", "vllm"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path, help="a checkpoint's folder")
    parser.add_argument("--engine", nargs="+", choices=ENGINES, default=ENGINES)
    parser.add_argument("--text", type=Path, default=HELD_OUT)
    parser.add_argument("--tokens", type=int, default=0, help="default: the whole text")
    parser.add_argument("--length", type=int, default=512)
    parser.add_argument("--expect", type=float, help="what the perplexity has to be")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16", "float16"])
    parser.add_argument(
        "--tensor-parallel", type=int, default=1, help="GPUs that vLLM divides it over"
    )
    args = parser.parse_args()
    if args.length < 2:
        parser.error("--length is at least 2: a piece's first token is not scored")
    for path in (args.model / "config.json", args.model / "tokenizer.json", args.text):
        if not path.is_file():
            sys.exit(f"error: there is no {path}")
    need("tokenizers", *(("torch", "transformers") if "transformers" in args.engine else ()))
    if "vllm" in args.engine:
        need_vllm_device()
        need("vllm")

    pieces = pieces_of(args.model, args.text, args.tokens, args.length)
    scored = sum(len(piece) - 1 for piece in pieces)
    if not scored:
        sys.exit(f"error: {args.text} has less than two tokens")
    off = False
    for engine in args.engine:
        begin = time.monotonic()
        if engine == "vllm":
            nats = by_vllm(args.model, pieces, args.dtype, args.tensor_parallel) / scored
        else:
            nats = by_transformers(args.model, pieces, args.dtype) / scored
        result = {
            "engine": engine,
            "dtype": args.dtype,
            "scored_tokens": scored,
            "nats_per_token": round(nats, 6),
            "perplexity": round(math.exp(nats), 5),
            "seconds": round(time.monotonic() - begin, 1),
        }
        print(json.dumps(result), flush=True)
        if args.expect is not None:
            off |= abs(math.exp(nats) / args.expect - 1) > TOLERANCE
    sys.exit(int(off))


if __name__ == "__main__":
    main()
