# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""--shapes and --out of the dispatch benchmark; what cannot be meant ends with code 2."""

import dispatch
import kernel_table
import pytest


def test_all_shapes_without_a_selection() -> None:
    assert dispatch.parse_arguments(["--out", "x.json"]).shapes == list(kernel_table.SHAPES)


def test_shapes() -> None:
    assert dispatch.parse_arguments(["--out", "x.json", "--shapes", "512x256"]).shapes == [
        (512, 256)
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--shapes", "4096"], "--shapes: 4096 is not of the form NxK"),
        (["--out", "nowhere/x.json"], "nowhere/x.json: there is no such folder"),
    ],
)
def test_refused(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        dispatch.parse_arguments(["--out", "x.json", *arguments])
    assert end.value.code == 2
    assert said in capsys.readouterr().err
