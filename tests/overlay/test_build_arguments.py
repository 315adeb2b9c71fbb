# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""build.sh's command line refuses what makes no sense."""

import pytest

from overlay.archs import DEFAULT
from overlay.build import parse_arguments


def test_defaults() -> None:
    args = parse_arguments([])
    assert args.archs.split() == list(DEFAULT)
    assert args.jobs >= 1
    assert not args.full


@pytest.mark.parametrize(
    ("argv", "fault"),
    [
        (["--jobs", "0"], "--jobs: a number from 1 up"),
        (["--jobs", "many"], "--jobs"),
        (["--dry-run"], "--dry-run goes with --full"),
        (["--full", "--cpu-tryout", "x"], "--cpu-tryout does not go with --full"),
        (["--no-such"], "--no-such"),
        (["wheel"], "wheel"),
    ],
)
def test_refused(argv: list[str], fault: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        parse_arguments(argv)
    assert caught.value.code == 2
    assert fault in capsys.readouterr().err
