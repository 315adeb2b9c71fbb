# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""MODEL:WEIGHTS,... says what is served; what cannot be meant is named."""

import pytest
import serve_table


def parse(*names: str) -> list[tuple[str, str]]:
    return serve_table.parse_models(names, ["llama3-8b"], ["bf16", "ternary"])


def test_each_kind_of_weights_is_a_server() -> None:
    assert parse("llama3-8b:bf16,ternary", "small-lm:bitnet") == [
        ("llama3-8b", "bf16"),
        ("llama3-8b", "ternary"),
        ("small-lm", "bitnet"),
    ]


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("llama3-8b", "not of the form MODEL:WEIGHTS"),
        ("llama3-8b:", "not of the form MODEL:WEIGHTS"),
        ("llama4:bf16", "no model llama4; there are llama3-8b small-lm"),
        ("llama3-8b:fp4", "llama3-8b has no weights fp4; it has bf16 ternary"),
        ("small-lm:ternary", "small-lm has no weights ternary; it has bf16 bitnet"),
        ("small-lm:bf16,bf16", "named twice"),
    ],
)
def test_faults(name: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        parse(name)
