# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Two ranks give the tokens that one gives."""

from pathlib import Path

import pytest
from server import serve
from texts import TEXTS, complete, token_ids

pytestmark = pytest.mark.slow


def test_two_ranks_give_the_same_tokens(
    tryout_python: Path, checkpoints: Path, offline: dict[str, dict], tmp_path: Path
) -> None:
    with serve(
        tryout_python,
        checkpoints / "group",
        tmp_path / "log",
        "--enforce-eager",
        "--tensor-parallel-size=2",
        VLLM_CPU_OMP_THREADS_BIND="0|1",
    ) as server:
        answer = complete(server, return_token_ids=True)

    assert token_ids(answer) == offline["group-dense"]["token_ids"]
    assert [choice["text"] for choice in answer["choices"]] == [text.rest for text in TEXTS]
