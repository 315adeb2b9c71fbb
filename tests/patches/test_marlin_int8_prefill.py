# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""On Hopper, symmetric layers take the zero-point kernel from 64 tokens on, and stay the same."""

from typing import Any

import pytest

pytest.importorskip("vllm")

import torch
from marlin_emulation import INT8_LIMIT, checkpoint, emulate, kernel, kernel_integers, load
from vllm.platforms import current_platform
from vllm.scalar_type import scalar_types

N, GROUPS = 128, 4
K = GROUPS * 128


@pytest.fixture
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(current_platform, "is_device_capability", lambda c: c == 90)


def run(monkeypatch: pytest.MonkeyPatch, tokens: list[int], **options: Any) -> list[int]:
    """Kernel types that a layer takes, in turn, for these numbers of tokens, each one right."""
    calls = emulate(monkeypatch)
    c = checkpoint(N, K, options.pop("groups", GROUPS), **options)
    layer, k = load(c), kernel(c, torch.int8)
    k.process_weights_after_loading(layer)
    for m in tokens:
        x = torch.randn((m, K), generator=torch.Generator().manual_seed(m)).bfloat16()
        reference = x.double() @ c.weight().t()
        error = (k.apply_weights(layer, x).double() - reference).norm() / reference.norm()
        assert error <= INT8_LIMIT
    for call in calls:
        integers = kernel_integers(layer.weight_packed, call["zeros"], c.scales.shape[1], True)
        if not options:
            assert torch.equal(integers, c.integers().t().long())
    return [call["type_id"] for call in calls]


SYMMETRIC, ZERO_POINT = scalar_types.uint4b8.id, scalar_types.uint4.id


@pytest.mark.usefixtures("hopper")
def test_by_number_of_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    types = run(monkeypatch, [1, 63, 64, 300, 2])
    assert types == [SYMMETRIC, SYMMETRIC, ZERO_POINT, ZERO_POINT, SYMMETRIC]


@pytest.mark.usefixtures("hopper")
@pytest.mark.parametrize(
    ("options", "kernel_type"),
    [
        ({"negative": 0.5}, ZERO_POINT),
        ({"asymmetric": True}, ZERO_POINT),
        ({"groups": 1}, SYMMETRIC),
    ],
    ids=["negative", "asymmetric", "channelwise"],
)
def test_layers_without_a_choice(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], kernel_type: int
) -> None:
    assert run(monkeypatch, [1, 64], **options) == [kernel_type, kernel_type]


def test_other_gpus_keep_the_symmetric_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(current_platform, "is_device_capability", lambda c: c == 89)
    assert run(monkeypatch, [1, 64]) == [SYMMETRIC, SYMMETRIC]
