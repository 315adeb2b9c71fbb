# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The real Marlin kernel against float64: int8 and 16-bit activations.

A large shape and one that Marlin pads; bench/marlin_int8_accuracy.py has the others.
"""

import pytest

pytest.importorskip("vllm")

import torch
from marlin_emulation import A16_LIMIT, INT8_LIMIT, checkpoint, relative_error
from vllm.model_executor.kernels.linear.mixed_precision import marlin

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU"),
]

SHAPES = pytest.mark.parametrize(("n", "k"), [(5120, 17408), (1000, 1152)])
CASES = pytest.mark.parametrize(
    ("negative", "asymmetric"),
    [(0.0, False), (0.5, False), (1.0, False), (0.0, True), (0.5, True)],
    ids=["positive", "half", "all", "asymmetric", "half-asymmetric"],
)


@SHAPES
@CASES
@pytest.mark.parametrize(
    ("act", "limit"), [(torch.int8, INT8_LIMIT), (torch.bfloat16, A16_LIMIT)], ids=["int8", "a16"]
)
def test_grouped(
    n: int, k: int, negative: float, asymmetric: bool, act: torch.dtype, limit: float
) -> None:
    c = checkpoint(n, k, k // 128, negative=negative, asymmetric=asymmetric, device="cuda")
    error = relative_error(c, act)
    print(f"{error:.4%}")
    assert error <= limit


@pytest.mark.parametrize("group_size", [32, 64])
@pytest.mark.parametrize("asymmetric", [False, True])
@pytest.mark.parametrize("tokens", [1, 17, 300])
def test_small_groups(group_size: int, asymmetric: bool, tokens: int) -> None:
    c = checkpoint(
        4096, 4096, 4096 // group_size, negative=0.5, asymmetric=asymmetric, device="cuda"
    )
    error = relative_error(c, torch.int8, tokens)
    print(f"{error:.4%}")
    assert error <= INT8_LIMIT


def test_one_group_padded_to_two() -> None:
    c = checkpoint(64, 64, 1, negative=0.5, device="cuda")
    assert relative_error(c, torch.int8, group_size=64) <= INT8_LIMIT


def test_kernel_reads_scales_as_unsigned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the patch the same layer is garbage: the day this fails, the patch can go."""

    def stock_scales(s: torch.Tensor, _: str) -> tuple[torch.Tensor, torch.Tensor]:
        return (s / s.max() * 4096).round().to(torch.int16).view(s.dtype), s.max().float() / 4096

    monkeypatch.setattr(marlin, "marlin_act_int8_negative_groups", lambda *_: None)
    monkeypatch.setattr(marlin, "marlin_act_int8_process_scales", stock_scales)
    error = relative_error(checkpoint(5120, 5120, 40, negative=0.5, device="cuda"), torch.int8)
    print(f"{error:.4%}")
    assert error > 1
