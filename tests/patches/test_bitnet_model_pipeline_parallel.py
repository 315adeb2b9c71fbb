# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The stages of a pipeline together are the whole model, and each has only its own weights."""

from pathlib import Path

import pytest

pytest.importorskip("vllm")

import torch
from bitnet_models import load_model, one_process, pretend_stage, read_reference

__all__ = ["one_process"]


@pytest.mark.usefixtures("one_process")
def test_two_stages(bitnet_checkpoints: Path, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint = bitnet_checkpoints / "bitnet-0"
    tokens = read_reference(checkpoint).tokens.to(device)
    positions = torch.arange(len(tokens), device=device)
    whole = load_model(checkpoint, device, "bfloat16")
    wanted = whole.compute_logits(whole(tokens, positions))

    pretend_stage(monkeypatch, 0, 2)
    first = load_model(checkpoint, device, "bfloat16")
    between = first(tokens, positions)
    assert set(between.tensors) == set(
        first.make_empty_intermediate_tensors(1, torch.bfloat16, "cpu").tensors
    )
    pretend_stage(monkeypatch, 1, 2)
    second = load_model(checkpoint, device, "bfloat16")
    logits = second.compute_logits(second(None, positions, between))

    torch.testing.assert_close(logits, wanted, rtol=0, atol=0)
    layers = [
        {name.split(".")[2] for name, _ in model.named_parameters() if ".layers." in name}
        for model in (first, second, whole)
    ]
    assert layers == [{"0"}, {"1"}, {"0", "1"}]
