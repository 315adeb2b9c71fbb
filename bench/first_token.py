# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What the time to the first token is spent on: one engine in this process, without a server.

    python bench/checkpoints.py --geometry qwen2-1.5b --weights ternary --out DIR
    python bench/first_token.py DIR --out first-token.json

Prompts of --tokens random tokens, each answered by one token: the fastest and the median of twelve
after three that warm up, then one under torch's profiler. The row in the file, in place of what it
had of the same directory's name:

    first_token_ms, median_ms  of the twelve, on the host's clock
    busy_ms                    that the GPU had a kernel to run, in the profiled one
    span_ms                    from its first kernel to the end of its last
    kernels                    name, number and milliseconds of those that took longest

Where busy_ms is much less than the others, the host sets the pace.
"""

import argparse
import json
import os
import statistics
import sys
import time
from operator import itemgetter
from pathlib import Path
from typing import Any

from needs import need_folder, need_gpu
from serve_table import keep, prompt_tokens

WARM_UP, REPEATS, KERNELS, NAME_LENGTH = 3, 12, 6, 90
CACHE_BYTES = 2**31


def make_engine(model: Path) -> Any:
    """An engine as bench/serve.py's servers have it, without their other processes."""
    os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
    from vllm import LLM

    return LLM(
        str(model),
        skip_tokenizer_init=True,
        max_model_len=4096,
        max_num_seqs=64,
        max_num_batched_tokens=4096,
        enable_prefix_caching=False,
        compilation_config={"cudagraph_capture_sizes": [1, 8, 64]},
        kv_cache_memory_bytes=CACHE_BYTES,
        gpu_memory_utilization=0.01,
    )


def first_token_ms(engine: Any, tokens: int, seed: int) -> float:
    """The time until a prompt of this seed is answered by one token."""
    from vllm import SamplingParams
    from vllm.inputs import TokensPrompt

    params = SamplingParams(max_tokens=1, temperature=0, ignore_eos=True, detokenize=False)
    ids = prompt_tokens(seed, tokens, engine.llm_engine.model_config.get_vocab_size())
    begin = time.perf_counter()
    engine.generate([TokensPrompt(prompt_token_ids=ids)], params, use_tqdm=False)
    return (time.perf_counter() - begin) * 1e3


def kernels_of(engine: Any, tokens: int, seed: int) -> list[tuple[float, float, str]]:
    """Begin and end in milliseconds, and name, of each kernel of one prompt, by their begin."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        first_token_ms(engine, tokens, seed)
        torch.cuda.synchronize()
    return sorted(
        (event.time_range.start / 1e3, event.time_range.end / 1e3, event.name)
        for event in profiler.events()
        if event.device_type == torch.autograd.DeviceType.CUDA
    )


def busy_ms(kernels: list[tuple[float, float, str]]) -> float:
    """How long at least one of them ran."""
    busy, until = 0.0, 0.0
    for begin, end, _ in kernels:
        busy += max(0.0, end - max(begin, until))
        until = max(until, end)
    return busy


def longest(kernels: list[tuple[float, float, str]]) -> list[tuple[str, int, float]]:
    """Name, number and time of the kernels that took longest together."""
    times: dict[str, list[float]] = {}
    for begin, end, name in kernels:
        times.setdefault(name[:NAME_LENGTH], []).append(end - begin)
    rows = [(name, len(each), round(sum(each), 2)) for name, each in times.items()]
    return sorted(rows, key=lambda row: -row[2])[:KERNELS]


def main() -> int:
    """Measures, prints and saves; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path, help="directory of a checkpoint")
    parser.add_argument("--tokens", type=int, default=2048, help="of the prompt (%(default)s)")
    parser.add_argument("--out", type=Path, required=True, help="JSON file that gets the row")
    args = parser.parse_args()
    need_folder(parser, args.out)
    need_gpu()
    engine = make_engine(args.model)
    times = [first_token_ms(engine, args.tokens, i) for i in range(WARM_UP + REPEATS)][WARM_UP:]
    kernels = kernels_of(engine, args.tokens, WARM_UP + REPEATS)
    row = {
        "model": args.model.name,
        "tokens": args.tokens,
        "first_token_ms": round(min(times), 1),
        "median_ms": round(statistics.median(times), 1),
        "busy_ms": round(busy_ms(kernels), 1),
        "span_ms": round(max(end for _, end, _ in kernels) - kernels[0][0], 1),
        "kernels": longest(kernels),
    }
    keep(args.out, [row], itemgetter("model"))
    print(json.dumps(row, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
