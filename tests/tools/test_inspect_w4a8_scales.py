# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Small scales count against the largest of the layer that vLLM fuses; NaN is refused."""

from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("numpy")

from checkpoints import layer, scales, write

KIND = "compressed-tensors"
ATTENTION = "model.layers.0.self_attn"


def test_fused_layers_share_the_largest(inspect_w4a8: ModuleType, tmp_path: Path) -> None:
    small = scales()
    small /= 8192
    layers = {
        f"{ATTENTION}.q_proj": layer(KIND, scales()),
        f"{ATTENTION}.k_proj": layer(KIND, small),
        f"{ATTENTION}.o_proj": layer(KIND, small),
    }
    write(tmp_path, KIND, layers)
    rows = inspect_w4a8.inspect(tmp_path)["rows"]
    assert [(r["layers"], r["tiny"]) for r in rows] == [
        ("model.layers.*.self_attn.qkv_proj", small.size),
        ("model.layers.*.self_attn.o_proj", 0),
    ]


def test_zero_and_one_step_are_kept(inspect_w4a8: ModuleType, tmp_path: Path) -> None:
    values = scales()
    values[0] = 0
    values[1] /= 4096
    write(tmp_path, KIND, {f"{ATTENTION}.o_proj": layer(KIND, values)})
    (row,) = inspect_w4a8.inspect(tmp_path)["rows"]
    assert row["tiny"] == 0


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
@pytest.mark.parametrize(
    ("groups", "unpatched"),
    [(2, "garbage: NaN or infinite scales"), (1, "fails in the first forward pass")],
)
def test_not_finite(
    inspect_w4a8: ModuleType, tmp_path: Path, bad: float, groups: int, unpatched: str
) -> None:
    values = scales(groups)
    values[3, -1] = bad
    write(tmp_path, KIND, {f"{ATTENTION}.o_proj": layer(KIND, values)})
    report = inspect_w4a8.inspect(tmp_path)
    (row,) = report["rows"]
    assert report["affected"]
    assert row["vllm_0_32_0"] == unpatched
    assert row["patched"] == "refused: NaN or infinite scales"
