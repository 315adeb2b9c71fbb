# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Continue prompts with several checkpoints, one after the other in one process.

    python generate.py PROMPTS_JSON CHECKPOINT...

Prints a line of JSON for each checkpoint: its name, and its token_ids or the error it gave.
"""

import json
import sys
from pathlib import Path


def main() -> None:
    from vllm import LLM, SamplingParams
    from vllm.distributed import cleanup_dist_env_and_memory

    prompts = json.loads(sys.argv[1])
    greedy = SamplingParams(temperature=0, max_tokens=32)
    for path in map(Path, sys.argv[2:]):
        result: dict[str, object] = {"name": path.name}
        llm = None
        try:
            llm = LLM(
                str(path),
                dtype="bfloat16",
                max_model_len=256,
                max_num_seqs=4,
                enforce_eager=True,
            )
            answers = llm.generate(prompts, greedy, use_tqdm=False)
            result["token_ids"] = [list(answer.outputs[0].token_ids) for answer in answers]
        except Exception as error:
            result["error"] = str(error)
        print("RESULT " + json.dumps(result), flush=True)
        del llm
        cleanup_dist_env_and_memory()


if __name__ == "__main__":
    main()
