# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The trained ternary model has the same perplexity in vLLM as in transformers."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from server import ENVIRONMENT

pytestmark = pytest.mark.slow

BENCH = Path(__file__).parents[2] / "bench"
MODEL = BENCH / "models" / "small-lm"
TOLERANCE = 0.002
# Of the whole held-out text, in pieces of 512: with fewer tokens, activations that are rounded to
# the other side of an edge shift the mean by up to 0.1 %.
PERPLEXITY = 13.70


def perplexity(python: Path, engine: str) -> dict[str, Any]:
    process = subprocess.run(
        [str(python), str(BENCH / "perplexity.py"), str(MODEL), "--engine", engine],
        capture_output=True,
        text=True,
        env=os.environ | ENVIRONMENT | {"VLLM_ENABLE_V1_MULTIPROCESSING": "0"},
    )
    assert process.returncode == 0, process.stderr
    result: dict[str, Any] = json.loads(process.stdout.splitlines()[-1])
    return result


def test_vllm_gives_the_perplexity_of_transformers(tryout_python: Path) -> None:
    vllm = perplexity(tryout_python, "vllm")
    transformers = perplexity(tryout_python, "transformers")

    assert vllm["scored_tokens"] == transformers["scored_tokens"] > 16000
    assert vllm["perplexity"] == pytest.approx(transformers["perplexity"], rel=TOLERANCE)
    assert transformers["perplexity"] == pytest.approx(PERPLEXITY, rel=TOLERANCE)
