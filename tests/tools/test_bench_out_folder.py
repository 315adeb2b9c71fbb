# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A folder that --out lacks is found before anything is measured, not when all is."""

import sys
from collections.abc import Callable
from types import ModuleType

import pytest

pytest.importorskip("aiohttp")


@pytest.mark.parametrize(
    "command", ["packing", "serve small-lm:bf16", "ternary_quality no-model no-text"]
)
def test_refused(
    command: str,
    bench: Callable[[str], ModuleType],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name, *arguments = command.split()
    monkeypatch.setattr(sys, "argv", [name, *arguments, "--out", "nowhere/x.json"])
    with pytest.raises(SystemExit) as end:
        bench(name).main()
    assert end.value.code == 2
    assert capsys.readouterr().err.endswith("error: nowhere/x.json: there is no such folder\n")
