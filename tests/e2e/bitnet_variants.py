# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""BitNet checkpoints: which there are, how they are run, and how near to Transformers is right.

In float32 the logits agree to 1e-5, until a sum that came out a bit different lets an activation
round to the next of its 8-bit steps. Then they move by some hundredths, which is seldom enough to
change a token, and only where two were about as likely.
"""

import json
from pathlib import Path
from typing import Any

from scripts import results, run

HERE = Path(__file__).parent
MAKER = HERE.parent / "models" / "bitnet_checkpoints.py"

SEEDS = {
    "bitnet": (0, 1, 2),
    "bitnet-online": (0, 1, 2),
    "llama": (1, 2),
    "falcon": (1, 2),
    "qwen2": (1, 2),
    "qwen2-auto": (1, 2),
    "qwen3": (1, 2),
    "qwen3-norms": (1, 2),
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
VARIANTS = [f"{model}-{seed}" for model, seeds in SEEDS.items() for seed in seeds] + BAD

# By how much one activation that is rounded the other way may move logits, which spread over 1.2.
STEP = 0.3


def make(python: Path, folder: Path) -> None:
    run(python, MAKER, folder, *VARIANTS)


def continue_tokens(
    python: Path, folder: Path, names: list[str], **options: Any
) -> dict[str, dict[str, Any]]:
    """What continue_tokens.py says of each of the checkpoints, in float32."""
    output = run(
        python,
        HERE / "continue_tokens.py",
        json.dumps({"dtype": "float32"} | options),
        *(folder / name for name in names),
    )
    found = results(output)
    assert [result["name"] for result in found] == names, output
    return {result["name"]: result for result in found}


def assert_continues(result: dict[str, Any]) -> None:
    """The tokens are those of Transformers, to the end or to a step where two are as likely."""
    assert len(result["tokens"]) == 64
    pairs = zip(result["tokens"], result["expected"], strict=True)
    end = next((step for step, (token, wanted) in enumerate(pairs) if token != wanted), 63)
    assert max(result["differences"][: end + 1]) < STEP
    assert result["behind"][end] < STEP
