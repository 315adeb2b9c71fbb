# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A served ternary model completes texts as the same weights do when they are dense."""

import pytest
from server import Server
from texts import TEXTS, complete, token_ids

pytestmark = pytest.mark.slow


def test_greedy_tokens_equal_those_of_the_dense_server(
    ternary_server: Server, dense_server: Server
) -> None:
    ternary = complete(ternary_server, return_token_ids=True)
    dense = complete(dense_server, return_token_ids=True)

    assert token_ids(ternary) == token_ids(dense)
    assert [choice["text"] for choice in ternary["choices"]] == [text.rest for text in TEXTS]
    assert {choice["finish_reason"] for choice in ternary["choices"]} == {"stop"}


def test_streamed_pieces_make_up_the_text(ternary_server: Server) -> None:
    text = TEXTS[0]
    events = ternary_server.stream(
        "/v1/completions",
        {"model": "model", "prompt": text.prompt, "temperature": 0, "max_tokens": 32},
    )

    pieces = [event["choices"][0]["text"] for event in events]
    # How many they are is a matter of time: the server joins what is ready.
    assert "".join(pieces) == text.rest
