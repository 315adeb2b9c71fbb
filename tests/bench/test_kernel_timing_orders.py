# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What is compared is measured in both orders, so that neither favours one of them."""

from collections.abc import Callable

from kernel_timing import in_both_orders


def test_mean_of_both_orders() -> None:
    order: list[str] = []

    def measure(name: str, us: float) -> Callable[[], float]:
        def once() -> float:
            order.append(name)
            return us * len(order)  # slower and slower

        return once

    found = in_both_orders({"a": measure("a", 2.0), "b": measure("b", 2.0), "c": measure("c", 4.0)})

    assert order == ["a", "b", "c", "c", "b", "a"]
    assert found == {"a": 7.0, "b": 7.0, "c": 14.0}


def test_nothing_to_compare() -> None:
    assert in_both_orders({}) == {}
