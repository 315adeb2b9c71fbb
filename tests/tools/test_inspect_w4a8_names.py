# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The server's variables that select layers count as they do there."""

from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("numpy")

from checkpoints import layer, scales, write

NAMES = ("model.layers.0.mlp.down_proj", "lm_head", "model.layers.1.mlp.experts.0.down_proj")
NOT_SELECTED = "16 bits: not selected by its name"


@pytest.mark.parametrize(
    ("variables", "left_out"),
    [
        ({}, {"lm_head"}),
        ({"EXCLUDE": ""}, set()),
        ({"EXCLUDE": "experts$"}, {"model.layers.*.mlp.experts.w2"}),
        ({"INCLUDE": "mlp"}, {"lm_head"}),
        (
            {"EXCLUDE": "", "INCLUDE": "^lm"},
            {"model.layers.*.mlp.down_proj", "model.layers.*.mlp.experts.w2"},
        ),
    ],
)
def test_selection(
    monkeypatch: pytest.MonkeyPatch,
    inspect_w4a8: ModuleType,
    tmp_path: Path,
    variables: dict[str, str],
    left_out: set[str],
) -> None:
    for kind, value in variables.items():
        monkeypatch.setenv(f"VLLM_MARLIN_INT8_{kind}_RE", value)
    write(tmp_path, "gptq", {name: layer("gptq", scales()) for name in NAMES})
    rows = inspect_w4a8.inspect(tmp_path)["rows"]
    assert {r["layers"] for r in rows if r["patched"] == NOT_SELECTED} == left_out
