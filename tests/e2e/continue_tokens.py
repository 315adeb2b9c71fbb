# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Continue token ids with several checkpoints, one after the other in one process.

    python continue_tokens.py OPTIONS_JSON CHECKPOINT...

OPTIONS_JSON goes to vLLM. What a checkpoint must continue, and how, stands beside it in
CHECKPOINT.safetensors. Prints a line of JSON for each: its name, and the error it gave, or the
tokens it gave and those expected, and of each step the largest difference of the logits, and by how
much the expected logit of the token it gave is smaller than the largest.
"""

import gc
import json
import sys
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file


def continue_prompt(llm: Any, reference: dict[str, torch.Tensor]) -> dict[str, list[Any]]:
    from vllm import SamplingParams

    steps = len(reference["logits"])
    greedy = SamplingParams(
        temperature=0, max_tokens=steps, ignore_eos=True, detokenize=False, logprobs=-1
    )
    prompt = {"prompt_token_ids": reference["tokens"][:-steps].tolist()}
    (answer,) = llm.generate([prompt], greedy, use_tqdm=False)[0].outputs
    logits = [[step[token].logprob for token in range(len(step))] for step in answer.logprobs]
    differences = (torch.tensor(logits) - reference["logits"]).abs().amax(dim=-1)
    given = reference["logits"].gather(1, torch.tensor(answer.token_ids).unsqueeze(1))
    return {
        "tokens": list(answer.token_ids),
        "behind": (reference["logits"].amax(dim=-1) - given.squeeze(1)).tolist(),
        "expected": reference["tokens"][-steps:].tolist(),
        "differences": differences.tolist(),
    }


def main() -> None:
    from vllm import LLM
    from vllm.distributed import cleanup_dist_env_and_memory

    options, *paths = sys.argv[1:]
    arguments = {"enforce_eager": True} | json.loads(options)
    # vLLM collects garbage eight times for each model, which takes longer than the rest; and it
    # would have the counting of ranks in log probabilities compiled.
    gc.collect = lambda generation=2: 0
    if arguments["enforce_eager"]:
        torch.compiler.set_stance("force_eager")
    for path in map(Path, paths):
        result: dict[str, object] = {"name": path.name}
        llm = None
        try:
            llm = LLM(
                str(path),
                skip_tokenizer_init=True,
                max_model_len=128,
                max_num_seqs=4,
                kv_cache_memory_bytes=1 << 22,
                max_logprobs=-1,
                logprobs_mode="raw_logits",
                **arguments,
            )
            result |= continue_prompt(llm, load_file(path.with_name(f"{path.name}.safetensors")))
        except Exception as error:
            result["error"] = str(error)
        print("RESULT " + json.dumps(result), flush=True)
        del llm
        cleanup_dist_env_and_memory()


if __name__ == "__main__":
    main()
