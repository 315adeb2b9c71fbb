# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""--shapes, --m and --kernels choose what is measured; what cannot be meant ends with code 2."""

import kernel_table
import kernels
import pytest


def names(*arguments: str) -> list[str]:
    chosen = kernels.parse_arguments(["--out", "x.json", *arguments]).series
    return [series.name for series in chosen]


def test_a_kernel_stands_for_all_its_series() -> None:
    assert names("--kernels", "ternary") == [
        "ternary/a16/channel",
        "ternary/int8/channel",
        "ternary/a16/group128",
        "ternary/int8/group128",
    ]


def test_single_series_come_in_the_order_of_measurement() -> None:
    asked = ["naive", "ternary/int8/channel", "cublas_bf16"]
    assert names("--kernels", *asked) == [
        "ternary/int8/channel",
        "cublas_bf16/a16/channel",
        "naive/a16/channel",
    ]


def test_everything_without_a_selection() -> None:
    arguments = kernels.parse_arguments(["--out", "x.json"])
    assert arguments.series == list(kernel_table.SERIES)
    assert arguments.shapes == list(kernel_table.SHAPES)
    assert arguments.m == list(kernel_table.TOKENS)


def test_tokens_ascend_without_doubles() -> None:
    assert kernels.parse_arguments(["--out", "x.json", "--m", "16", "1", "16"]).m == [1, 16]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--kernels", "marlin"], "--kernels: no marlin; there are ternary cublas_bf16"),
        (["--shapes", "4096"], "--shapes: 4096 is not of the form NxK"),
        (["--shapes", "0x4096"], "--shapes: 0x4096 is not of the form NxK"),
        (["--shapes", "1000x4096"], "N must be a multiple of 256"),
        (["--shapes", "4096x4000"], "K of 128"),
        (["--m", "0"], "--m: at least one token is needed"),
        (["--out", "nowhere/x.json"], "nowhere/x.json: there is no such folder"),
        (["--plot", "nowhere/x.png"], "nowhere/x.png: there is no such folder"),
    ],
)
def test_refused(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        kernels.parse_arguments(["--out", "x.json", *arguments])
    assert end.value.code == 2
    assert said in capsys.readouterr().err
