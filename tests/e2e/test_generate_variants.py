# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Each form of a ternary checkpoint gives the tokens of its dense twin; another sign does not."""

from typing import Any

import pytest

pytestmark = pytest.mark.slow

Results = dict[str, dict[str, Any]]


@pytest.mark.parametrize(
    ("variant", "twin"),
    [
        ("group", "group-dense"),
        ("group-packed", "group-dense"),
        ("group-int8-activations", "group-dense"),
        ("plain", "plain-dense"),
        ("tensor", "tensor-dense"),
        ("channel", "channel-dense"),
    ],
)
def test_tokens_equal_those_of_the_dense_twin(offline: Results, variant: str, twin: str) -> None:
    tokens = offline[variant]["token_ids"]
    assert tokens == offline[twin]["token_ids"]
    assert len({tuple(answer) for answer in tokens}) == len(tokens)


def test_flipping_the_signs_of_one_layer_changes_the_tokens(offline: Results) -> None:
    flipped, right = offline["group-sign-flipped"]["token_ids"], offline["group"]["token_ids"]
    assert all(a != b for a, b in zip(flipped, right, strict=True))


@pytest.mark.parametrize(
    ("variant", "fault"),
    [
        ("bad-group-size", "quantization_config: group_size is 100;"),
        ("bad-nan-scale", "down_proj.weight_scale holds nan at [3, 1];"),
    ],
)
def test_bad_checkpoint_raises_the_reason(offline: Results, variant: str, fault: str) -> None:
    assert fault in offline[variant]["error"]
