# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The key-value cache holds all streams, or one answer of the greatest length."""

import pytest
import serve_table

# 2 x 32 layers x 8 heads x 128 numbers of 2 bytes: 128 KiB a token.
CONFIG = {
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "hidden_size": 4096,
}


@pytest.mark.parametrize(("streams", "tokens"), [(64, 64 * (176 + 16)), (1, 4096)])
def test_bytes(streams: int, tokens: int) -> None:
    size = serve_table.cache_bytes(CONFIG, streams, 176, 4096)
    assert size == (tokens + 1024) * 128 * 1024


def test_head_dim_of_its_own() -> None:
    config = CONFIG | {"head_dim": 256}
    assert serve_table.cache_bytes(config, 1, 176, 4096) == 2 * serve_table.cache_bytes(
        CONFIG, 1, 176, 4096
    )
