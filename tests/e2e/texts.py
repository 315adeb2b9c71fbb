# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The texts that the checkpoints know by heart, and how a server is asked to continue them."""

from dataclasses import dataclass
from typing import Any

from server import Server


@dataclass
class Text:
    """A text the checkpoints know by heart: they continue `prompt` with `rest`."""

    prompt: str
    rest: str


TEXTS = [
    Text("A balance", " compares two masses without any numbers at all."),
    Text("Ternary digits", " were used by a wooden machine built in 1840."),
    Text("Rivers carry", " gravel downhill until the slope becomes gentle."),
    Text("She counted", " nine lamps along the harbour before the fog came in."),
    Text("Most bridges", " fail at their joints, seldom in the middle of a beam."),
]
QUESTION = Text("Which number is neither positive nor negative?", "Zero is the only such number.")


def complete(server: Server, **options: Any) -> dict[str, Any]:
    """Greedy continuations of TEXTS."""
    body = {"model": "model", "prompt": [text.prompt for text in TEXTS]}
    return server.post("/v1/completions", body | {"temperature": 0, "max_tokens": 32} | options)


def token_ids(answer: dict[str, Any]) -> list[list[int]]:
    return [choice["token_ids"] for choice in answer["choices"]]
