# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A NaN or infinite group scale is refused with the layer's name."""

import pytest

pytest.importorskip("vllm")

import torch
from marlin_emulation import checkpoint, emulate, kernel, load


@pytest.mark.parametrize("groups", [4, 1])
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_refused_by_name(monkeypatch: pytest.MonkeyPatch, bad: float, groups: int) -> None:
    emulate(monkeypatch)
    c = checkpoint(128, 512, groups)
    c.scales[5, -1] = bad
    name = "model.layers.3.self_attn.qkv_proj"
    with pytest.raises(ValueError, match=rf"Layer '{name}' has a NaN or infinite weight scale"):
        kernel(c, torch.int8).process_weights_after_loading(load(c, name))
