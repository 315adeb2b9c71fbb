# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The rules that make weights ternary: their definitions, and the error they leave."""

import itertools

import pytest

pytest.importorskip("vllm")

import torch
from ternary_directories import generator
from vllm.ternary import rules

GROUP = 128


def relative_error(weight: torch.Tensor, rule: str) -> float:
    cut, scale = rules.fit(weight, rule)
    error = rules.apply(weight, cut) * scale - weight
    return float(error.square().sum() / weight.square().sum())


def gaussian() -> torch.Tensor:
    return torch.randn(8192, GROUP, generator=generator())


def student_t5() -> torch.Tensor:
    """Heavier tails: a normal variable over the root of a mean of five squared ones."""
    squares = torch.randn(5, 8192, GROUP, generator=generator(1)).square().mean(0)
    return gaussian() / squares.sqrt()


@pytest.mark.parametrize(
    ("rule", "of_gaussian", "of_student"),
    [("absmean", 0.261, 0.360), ("twn", 0.189, 0.276), ("l2", 0.187, 0.265)],
)
def test_error_of_groups_of_128(rule: str, of_gaussian: float, of_student: float) -> None:
    assert relative_error(gaussian(), rule) == pytest.approx(of_gaussian, abs=0.003)
    assert relative_error(student_t5(), rule) == pytest.approx(of_student, abs=0.008)


def test_absmean_is_what_bitnet_models_are_trained_with() -> None:
    from transformers.integrations.bitnet import WeightQuant

    weight = torch.randn(64, 256, generator=generator())
    expected = WeightQuant.forward.__wrapped__(None, weight)
    cut, scale = rules.fit(weight.flatten(), "absmean")
    torch.testing.assert_close(rules.apply(weight, cut) * scale, expected)


def test_twn_cuts_at_seven_tenths_of_the_mean() -> None:
    weight = torch.tensor([0.5, -1.0, 2.0, -4.5])  # mean size 2, cut 1.4
    cut, scale = rules.fit(weight, "twn")
    assert rules.apply(weight, cut).tolist() == [0, 0, 1, -1]
    assert scale.item() == 3.25


def test_threshold() -> None:
    weight = torch.tensor([0.03, -0.031, 0.5, 0.0])
    cut, scale = rules.fit(weight, "threshold")
    assert rules.apply(weight, cut).tolist() == [0, -1, 1, 0]
    assert scale.item() == pytest.approx((0.031 + 0.5) / 2)


@pytest.mark.parametrize("seed", range(20))
def test_l2_leaves_no_more_error_than_any_ternary_weights(seed: int) -> None:
    """Of all 3^7 codes, each with its best scale. Small integers make ties."""
    weight = torch.randint(-4, 5, (7,), generator=generator(seed)).float()
    codes = torch.tensor(list(itertools.product((-1, 0, 1), repeat=7))).float()
    gain = (codes @ weight).square() / codes.square().sum(1).clamp(min=1)
    least = float(weight.square().sum() - gain.max())
    cut, scale = rules.fit(weight, "l2")
    error = float((rules.apply(weight, cut) * scale - weight).square().sum())
    assert error == pytest.approx(least, abs=1e-4)


@pytest.mark.parametrize("rule", ["absmean", "l2"])
def test_codes_are_the_nearest_for_a_scale_that_was_rounded(rule: str) -> None:
    weight = gaussian()
    cut, scale = rules.fit(weight, rule, dtype=torch.bfloat16)
    assert torch.equal(scale.bfloat16().float(), scale)
    error = (rules.apply(weight, cut) * scale - weight).abs()
    for code in (-1, 0, 1):
        assert (error <= (code * scale - weight).abs()).all()


@pytest.mark.parametrize("rule", rules.RULES)
def test_a_group_of_zeros_stays_zero(rule: str) -> None:
    cut, scale = rules.fit(torch.zeros(2, 32), rule)
    assert not rules.apply(torch.zeros(2, 32), cut).any()
    assert scale.isfinite().all()


@pytest.mark.parametrize("rule", rules.RULES)
def test_a_matrix_read_in_pieces(rule: str) -> None:
    weight = torch.randn(40, 64, generator=generator()) * 0.05
    cut, scale = rules.fit(weight.flatten(), rule)
    pieces = rules.fit_tensor(lambda: iter(weight.split(7)), weight.numel(), rule)
    torch.testing.assert_close(pieces[1], scale)
    assert torch.equal(rules.apply(weight, pieces[0]), rules.apply(weight, cut))
