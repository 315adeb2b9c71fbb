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


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        ("auto-round", {"act_bits": 8}),
        ("compressed-tensors", {"config_groups": {"0": {"input_activations": {"num_bits": 8}}}}),
    ],
)
def test_a_checkpoint_that_asks_for_int8_is_not_selected_by_name(
    inspect_w4a8: ModuleType, tmp_path: Path, kind: str, config: dict[str, object]
) -> None:
    write(tmp_path, kind, {"lm_head": layer(kind, scales())}, **config)
    (row,) = inspect_w4a8.inspect(tmp_path)["rows"]
    assert row["patched"] == "int8, symmetric kernel"
    assert row["vllm_0_32_0"] == "16 bits: the variable is ignored"
