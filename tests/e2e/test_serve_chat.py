# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A served ternary model answers a chat, at once and streamed, as the dense one does."""

from typing import Any

import pytest
from server import Server
from texts import QUESTION

pytestmark = pytest.mark.slow

CHAT: dict[str, Any] = {
    "model": "model",
    "messages": [{"role": "user", "content": QUESTION.prompt}],
    "temperature": 0,
    "max_tokens": 32,
}


def test_answer_equals_that_of_the_dense_server(
    ternary_server: Server, dense_server: Server
) -> None:
    request = CHAT | {"return_token_ids": True}
    ternary = ternary_server.post("/v1/chat/completions", request)
    dense = dense_server.post("/v1/chat/completions", request)

    assert ternary["choices"][0]["token_ids"] == dense["choices"][0]["token_ids"]
    assert ternary["choices"][0]["message"]["content"] == QUESTION.rest


def test_streamed_pieces_make_up_the_answer(ternary_server: Server) -> None:
    events = ternary_server.stream("/v1/chat/completions", CHAT)

    pieces = [event["choices"][0]["delta"].get("content") or "" for event in events]
    assert "".join(pieces) == QUESTION.rest
    # The first has the role alone. How many the text comes in is a matter of time: the server
    # joins what is ready.
    assert events[0]["choices"][0]["delta"]["role"] == "assistant"
    assert len(pieces) > 1
    assert events[-1]["choices"][0]["finish_reason"] in ("stop", "length")
