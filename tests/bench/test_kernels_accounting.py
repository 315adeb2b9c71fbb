# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Bytes, operations and floors of the kernel table, against figures worked out by hand."""

import kernel_table
import pytest

N, K = 1000, 8000  # 8e6 weights


@pytest.mark.parametrize(
    ("kernel", "tb_s"),
    [("ternary", 0.2), ("marlin_w4a16", 0.4), ("naive", 0.8), ("cublas_bf16", 1.6)],
)
def test_a_kernel_is_charged_with_the_bytes_it_stores(kernel: str, tb_s: float) -> None:
    series = kernel_table.select([kernel])[0]
    assert kernel_table.make_row(series, N, K, 1, 10.0)["tb_s"] == tb_s


def test_a_weight_and_token_are_two_operations() -> None:
    series = kernel_table.SERIES[0]
    assert kernel_table.make_row(series, N, K, 5, 10.0)["tflop_s"] == 8.0


def test_few_tokens_are_bound_by_reading_two_bits_a_weight() -> None:
    assert kernel_table.floor_us(N, K, 1, tb_s=4.0, tflop_s=800.0) == pytest.approx(0.5)


def test_many_tokens_are_bound_by_the_matrix_rate() -> None:
    assert kernel_table.floor_us(N, K, 1000, tb_s=4.0, tflop_s=800.0) == pytest.approx(20.0)


def row(m: int, us: float) -> kernel_table.Row:
    return kernel_table.make_row(kernel_table.SERIES[0], N, K, m, us)


def test_a_call_is_too_long_by_the_tokens_it_has_more() -> None:
    earlier = [row(1, 5.0), row(64, 50.0)]
    assert kernel_table.too_long(earlier, 256, limit_us=199.0) == 200.0
    assert kernel_table.too_long(earlier, 256, limit_us=200.0) is None


def test_nothing_is_too_long_without_a_measurement() -> None:
    assert kernel_table.too_long([], 4096, limit_us=1.0) is None
