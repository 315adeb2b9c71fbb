# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The trained model's folder stays small, and is what the records say that was trained."""

import hashlib
import json
from pathlib import Path

BENCH = Path(__file__).parents[2] / "bench"
MODEL = BENCH / "models" / "small-lm"
LIMIT = 4_000_000


def sha256(name: str) -> str:
    return hashlib.sha256((MODEL / name).read_bytes()).hexdigest()


def test_folder_is_at_most_4_mb() -> None:
    assert sum(path.stat().st_size for path in MODEL.iterdir()) <= LIMIT


def test_tokenizer_is_that_of_the_training() -> None:
    corpus = json.loads((BENCH / "results" / "small-lm-h200.json").read_text())["corpus"]

    assert sha256("tokenizer.json") == corpus["tokenizer_sha256"]
