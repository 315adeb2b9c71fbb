# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Error feedback and calibrated scales of a single matrix."""

from collections.abc import Iterator

import pytest

pytest.importorskip("vllm")

import torch
from ternary_directories import generator, one_thread
from vllm.ternary import rules
from vllm.ternary.gptq import round_weight

ROWS, COLUMNS = 48, 192


@pytest.fixture(autouse=True)
def few_threads() -> Iterator[None]:
    with one_thread():
        yield


def correlated_inputs(columns: int = COLUMNS) -> torch.Tensor:
    """S of inputs that a few directions dominate, as in a language model."""
    mix = torch.randn(columns, columns, generator=generator(1))
    x = torch.randn(4 * columns, columns, generator=generator(2)) @ mix
    x[:, :8] *= 5
    return x.T @ x / len(x)


def weight(columns: int = COLUMNS) -> torch.Tensor:
    return torch.randn(ROWS, columns, generator=generator()) * 0.1


def output_error(found: torch.Tensor, wanted: torch.Tensor, inputs: torch.Tensor) -> float:
    error = (found - wanted).double()
    size = wanted.double()
    both = [((one @ inputs.double()) * one).sum() for one in (error, size)]
    return float(both[0] / both[1])


def by_rule(wanted: torch.Tensor, rule: str, group_size: int) -> torch.Tensor:
    shape = {0: (1, 1, -1), -1: (len(wanted), 1, -1)}.get(group_size, (len(wanted), -1, group_size))
    parts = wanted.reshape(shape)
    cut, scale = rules.fit(parts, rule)
    return (rules.apply(parts, cut) * scale).reshape(wanted.shape)


@pytest.mark.parametrize("rule", ["absmean", "l2"])
@pytest.mark.parametrize("group_size", [0, -1, 32, 64, 96])
def test_outputs_come_closer_than_with_the_rule_alone(group_size: int, rule: str) -> None:
    wanted, inputs = weight(), correlated_inputs()
    found = round_weight(wanted, inputs.clone(), rule, 0.0, group_size)
    error = output_error(found.weight(), wanted, inputs)
    assert error < 0.6 * output_error(by_rule(wanted, rule, group_size), wanted, inputs)
    assert found.output_error == pytest.approx(error, rel=1e-3)
    difference = found.weight() - wanted
    relative = float(difference.square().sum() / wanted.square().sum())
    assert found.weight_error == pytest.approx(relative, rel=1e-4)
    shapes = {0: (1,), -1: (ROWS, 1)}
    assert found.scale.shape == shapes.get(group_size, (ROWS, COLUMNS // max(group_size, 1)))
    assert set(found.codes.unique().tolist()) == {-1, 0, 1}


@pytest.mark.parametrize("group_size", [0, -1, 64])
def test_no_other_scales_are_better(group_size: int) -> None:
    wanted, inputs = weight(), correlated_inputs()
    found = round_weight(wanted, inputs.clone(), "l2", 0.0, group_size)
    least = output_error(found.weight(), wanted, inputs)
    for seed in range(5):
        change = torch.randn(found.scale.shape, generator=generator(seed)) * 0.02 + 1
        moved = type(found)(found.codes, found.scale * change, 0.0, 0.0)
        assert output_error(moved.weight(), wanted, inputs) > least


def test_one_scale_is_what_the_formula_says() -> None:
    wanted, inputs = weight(), correlated_inputs()
    found = round_weight(wanted, inputs.clone(), "l2", 0.0, -1)
    for row in (0, 17):
        t, w = found.codes[row].double(), wanted[row].double()
        scale = (w @ inputs.double() @ t) / (t @ inputs.double() @ t)
        assert found.scale[row].item() == pytest.approx(scale.item(), rel=1e-4)


@pytest.mark.parametrize("group_size", [32, 64, 96])
def test_rounded_scales_cost_next_to_nothing(group_size: int) -> None:
    wanted, inputs = weight(), correlated_inputs()
    exact = round_weight(wanted, inputs.clone(), "l2", 0.0, group_size)
    found = round_weight(wanted, inputs.clone(), "l2", 0.0, group_size, torch.bfloat16)
    assert torch.equal(found.scale.bfloat16().float(), found.scale)
    least = output_error(exact.weight(), wanted, inputs)
    error = output_error(found.weight(), wanted, inputs)
    assert error < 1.001 * least
    assert found.output_error == pytest.approx(error, rel=1e-3)


def test_independent_inputs_leave_the_rule_as_it_is() -> None:
    wanted = weight()
    found = round_weight(wanted, torch.eye(COLUMNS), "l2", 0.0, 64)
    torch.testing.assert_close(found.weight(), by_rule(wanted, "l2", 64), rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("inputs", ["none", "few", "some unused"])
def test_inputs_that_say_little(inputs: str) -> None:
    x = torch.randn(3 if inputs == "few" else 400, COLUMNS, generator=generator(3))
    if inputs == "none":
        x.zero_()
    if inputs == "some unused":
        x[:, 64:128] = 0
    total = x.T @ x
    found = round_weight(weight(), total.clone(), "l2", 0.0, 64)
    assert found.scale.isfinite().all()
    if inputs == "some unused":
        assert not found.codes[:, 64:128].any()
        assert found.codes[:, :64].any()


def test_a_matrix_of_zeros() -> None:
    found = round_weight(torch.zeros(4, 64), correlated_inputs(64), "twn", 0.0, 32)
    assert not found.weight().any()
