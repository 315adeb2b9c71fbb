# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Group scales under 1/4096 of their layer's largest are counted in a warning with its name."""

from unittest import mock

import pytest

pytest.importorskip("vllm")

import torch
from marlin_emulation import checkpoint, emulate, kernel, load
from vllm.model_executor.layers.quantization.utils import marlin_utils

NAME = "model.layers.3.self_attn.qkv_proj"


def warnings(monkeypatch: pytest.MonkeyPatch, scales: list[float], act: torch.dtype) -> list[str]:
    """What loading a layer whose first rows begin with these group scales warns of."""
    emulate(monkeypatch)
    warning = mock.Mock()
    monkeypatch.setattr(marlin_utils.logger, "warning", warning)
    c = checkpoint(128, 512, 4)
    c.scales.fill_(0.5)
    c.scales[: len(scales), 0] = torch.tensor(scales)
    kernel(c, act).process_weights_after_loading(load(c, NAME))
    return [call.args[0] % call.args[1:] for call in warning.call_args_list]


def test_counted_with_the_layers_name(monkeypatch: pytest.MonkeyPatch) -> None:
    step = 0.5 / 4096
    (line,) = warnings(monkeypatch, [step / 4, -step / 4, step / 4, step, 0.0], torch.int8)
    assert line.startswith(f"Layer '{NAME}': 3 of 512 group scales are under 1/4096")


@pytest.mark.parametrize(
    ("scale", "act"),
    [(0.5 / 4096, torch.int8), (0.0, torch.int8), (1e-9, torch.bfloat16)],
    ids=["one-step", "zero", "a16"],
)
def test_silent(monkeypatch: pytest.MonkeyPatch, scale: float, act: torch.dtype) -> None:
    assert warnings(monkeypatch, [scale], act) == []
