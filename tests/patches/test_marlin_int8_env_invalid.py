# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A bad value of a Marlin int8 variable is one line that names it, before any model is loaded."""

import re
from pathlib import Path

import pytest

pytest.importorskip("vllm")

from vllm.engine.arg_utils import EngineArgs


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("VLLM_MARLIN_INT8_EXCLUDE_RE", "lm_head|(mtp"),
        ("VLLM_MARLIN_INT8_INCLUDE_RE", "*proj"),
        ("VLLM_MARLIN_INPUT_DTYPE", "int4"),
        ("VLLM_MARLIN_INPUT_DTYPE", ""),
    ],
)
def test_named_when_the_configuration_is_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=f"'{re.escape(value)}' for {name}") as error:
        EngineArgs(model=str(tmp_path)).create_engine_config()
    assert "\n" not in str(error.value)
