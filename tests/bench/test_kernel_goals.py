# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Each ratio is held against its goal, and the tables mark what misses it."""

from pathlib import Path

import kernel_goals
import kernel_table
import pytest
from kernel_goals import Cell, Times
from kernel_table import Row

SHAPE = (28672, 4096)  # 2-bit weights: 7.0 microseconds at 4.2 TB/s


def row(name: str, m: int, us: float, shape: tuple[int, int] = SHAPE) -> Row:
    return kernel_table.make_row(kernel_table.select([name])[0], *shape, m, us)


def times(*rows: Row) -> Times:
    return Times(rows, tb_s=4.2, tflop_s=790.0)


def test_the_faster_humming_of_the_same_activations() -> None:
    found = times(
        row("ternary/a16/channel", 1, 10.0),
        row("humming_w2a16", 1, 20.0),
        row("humming_bitnet", 1, 18.0),
        row("humming_w2a8", 1, 5.0),
        row("marlin_w4a16", 1, 5.0),
    )
    assert kernel_goals.against_humming(found, SHAPE, 1, "a16") == Cell(1.8, 1.7)


@pytest.mark.parametrize(("m", "goal"), [(8, 1.7), (16, 1.5), (32, 1.3), (64, 1.3), (512, 1.1)])
def test_the_goal_falls_with_the_tokens(m: int, goal: float) -> None:
    assert kernel_goals.humming_goal(SHAPE, m) == goal


def test_few_tokens_of_a_shape_without_a_goal() -> None:
    assert kernel_goals.humming_goal((57344, 8192), 1) is None


def test_the_matrix_rate_is_goal_enough() -> None:
    # 2048 tokens take 609 microseconds at 790 TFLOP/s, 628 at 97 % of it; Humming 640.
    found = times(row("ternary/a16/channel", 2048, 625.0), row("humming_w2a16", 2048, 640.0))
    cell = kernel_goals.against_humming(found, SHAPE, 2048, "a16")
    assert cell is not None
    assert cell.met
    assert cell.goal == pytest.approx(640 / 628, abs=0.006)


def test_the_matrix_rate_does_not_excuse_int8() -> None:
    found = times(row("ternary/int8/channel", 2048, 625.0), row("humming_w2a8", 2048, 640.0))
    assert str(kernel_goals.against_humming(found, SHAPE, 2048, "int8")) == "**1.02** (1.05)"


def test_reading_the_weights() -> None:
    # 1.2 times 6.99 and 2 are 10.39.
    for us, text in ((10.3, "0.99"), (12.0, "**1.16** (1)")):
        found = times(row("ternary/a16/channel", 1, us))
        assert str(kernel_goals.against_reading(found, SHAPE, 1, "a16")) == text


def test_three_times_marlin_for_one_token_of_a_large_layer() -> None:
    small = (1536, 8960)
    for shape, goal in ((SHAPE, 3.0), (small, 1.0)):
        found = times(
            row("ternary/int8/channel", 1, 10.0, shape), row("marlin_w4a16", 1, 20.0, shape)
        )
        assert kernel_goals.against_marlin(found, shape, 1, "int8") == Cell(2.0, goal)


def test_int8_against_cublas_for_many_tokens_alone() -> None:
    for m, goal in ((512, None), (2048, 1.9)):
        found = times(row("ternary/int8/channel", m, 10.0), row("cublas_bf16", m, 20.0))
        assert kernel_goals.against_cublas(found, SHAPE, m, "int8") == Cell(2.0, goal)


def test_group_scales_cost_at_most_a_tenth() -> None:
    found = times(row("ternary/a16/channel", 16, 10.0), row("ternary/a16/group128", 16, 11.2))
    assert str(kernel_goals.of_groups(found, SHAPE, 16, "a16")) == "**1.12** (1.1)"


def test_report() -> None:
    rows = [
        row("ternary/a16/channel", 1, 10.0),
        row("humming_w2a16", 1, 16.0),
        row("ternary/int8/channel", 16, 100.4),
    ]
    assert kernel_goals.report(rows, tb_s=4.2, tflop_s=790.0).splitlines() == [
        "Ours, microseconds, 16 bits / int8",
        "",
        "| N x K | M = 1 | 16 |",
        "|---|---|---|",
        "| 28672x4096 | 10.0 / - | - / 100 |",
        "",
        "Humming's time over ours, 16 bits / int8; 0 of 1 goals met",
        "",
        "| N x K | M = 1 |",
        "|---|---|",
        "| 28672x4096 | **1.60** (1.7) / - |",
        "",
        "Ours over 1.2 times the reading of the weights and 2 microseconds, 16 bits / int8; "
        "1 of 1 goals met",
        "",
        "| N x K | M = 1 |",
        "|---|---|",
        "| 28672x4096 | 0.96 / - |",
        "",
        "1 of 2 goals met",
    ]


def test_what_holds_no_rows_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rows.json"
    path.write_text('{"not": "rows"}')
    with pytest.raises(SystemExit) as refused:
        kernel_goals.main([str(path), "4.2", "790"])
    assert refused.value.code == 2
    assert f"{path} holds no rows" in capsys.readouterr().err
