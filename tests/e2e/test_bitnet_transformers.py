# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""BitNet checkpoints continue prompts with the tokens that Transformers' own layers give."""

from typing import Any

import pytest
from bitnet_variants import SEEDS, assert_continues

pytestmark = pytest.mark.slow


@pytest.fixture
def results(bitnet: dict[str, dict[str, Any]], model: str) -> list[dict[str, Any]]:
    return [bitnet[f"{model}-{seed}"] for seed in SEEDS[model]]


@pytest.mark.parametrize("model", SEEDS)
def test_same_tokens_over_64_steps(results: list[dict[str, Any]]) -> None:
    for result in results:
        assert_continues(result)
    assert any(result["tokens"] == result["expected"] for result in results)
    # Tokens that are repeated without end would show little.
    assert max(len(set(result["expected"])) for result in results) > 10


@pytest.mark.parametrize("model", SEEDS)
def test_same_logits(results: list[dict[str, Any]]) -> None:
    assert min(result["differences"][0] for result in results) < 1e-4
