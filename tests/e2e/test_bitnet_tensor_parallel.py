# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Two ranks continue a prompt as Transformers does in one process."""

from pathlib import Path

import pytest
from bitnet_variants import assert_continues, continue_tokens

pytestmark = pytest.mark.slow


def test_two_ranks_give_the_same_tokens(tryout_python: Path, bitnet_checkpoints: Path) -> None:
    names = ["bitnet-1"]
    results = continue_tokens(tryout_python, bitnet_checkpoints, names, tensor_parallel_size=2)

    result = results["bitnet-1"]
    assert_continues(result)
    assert result["differences"][0] < 1e-4
