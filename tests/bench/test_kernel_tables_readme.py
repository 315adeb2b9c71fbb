# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""README.md's figures for one layer are those of the kept rows."""

from collections.abc import Callable

import kernel_docs
from kernel_goals import Times
from kernel_table import Shape

OF_COLUMN: dict[str, Callable[[Times, Shape, int], float | None]] = {
    "ours, a16": lambda times, shape, m: times.ours(shape, m, "a16"),
    "Humming, a16": lambda times, shape, m: times.peer(shape, m, "a16", "humming"),
    "ours, int8": lambda times, shape, m: times.ours(shape, m, "int8"),
    "Humming, int8": lambda times, shape, m: times.peer(shape, m, "int8", "humming"),
    "Marlin": lambda times, shape, m: times.peer(shape, m, "a16", "marlin"),
    "cuBLAS": lambda times, shape, m: times.peer(shape, m, None, "cublas"),
}


def shown(us: float | None) -> str:
    assert us is not None
    return f"{us:,.0f}" if us >= 100 else f"{us:.1f}"


def test_one_layer() -> None:
    times = kernel_docs.times()
    readme = (kernel_docs.ROOT / "README.md").read_text()
    (table,) = (
        table for table in kernel_docs.tables(readme) if table.heads[0] == "outputs x inputs"
    )
    columns = table.heads[2:]
    assert columns == list(OF_COLUMN)
    assert table.lines
    shape = (0, 0)
    for name, m, *said in table.lines:
        if name:  # it stands in the first of its lines
            n, k = name.split("x")
            shape = int(n), int(k)
        assert said == [shown(OF_COLUMN[column](times, shape, int(m))) for column in columns], (
            shape,
            m,
        )
