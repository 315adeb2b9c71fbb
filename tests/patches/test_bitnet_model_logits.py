# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The logits of a BitNet model are those of Transformers, and the same tokens have the largest.

Where float32 sums come out a bit different, an activation may be rounded to the next of its 8-bit
steps, and logits move by some hundredths: their differences are small at nearly all tokens, not at
every one.
"""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vllm")

import torch
from bitnet_models import Reference, load_model, one_process, read_reference

__all__ = ["one_process"]

pytestmark = pytest.mark.usefixtures("one_process")


def run(model: Any, reference: Reference, device: str) -> torch.Tensor:
    """Logits of the steps that continued the prompt, all at once."""
    tokens = reference.tokens[:-1].to(device)
    hidden = model(tokens, torch.arange(len(tokens), device=device))
    return model.compute_logits(hidden)[-len(reference.logits) :].float().cpu()


@pytest.mark.skipif(torch.cuda.is_available(), reason="float32 is for the CPU")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_float32(bitnet_checkpoints: Path, tensor_parallel: object, seed: int) -> None:
    checkpoint = bitnet_checkpoints / f"bitnet-{seed}"
    reference = read_reference(checkpoint)

    logits = run(load_model(checkpoint, "cpu", "float32"), reference, "cpu")

    difference = (logits - reference.logits).abs().amax(dim=-1)
    assert difference.quantile(0.75) < 1e-4
    assert difference.max() < 0.2
    assert torch.equal(logits.argmax(dim=-1), reference.tokens[-len(logits) :])
    assert len(reference.tokens.unique()) > 30


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_bfloat16_is_as_near_to_float32_as_transformers(
    bitnet_checkpoints: Path, device: str, seed: int
) -> None:
    checkpoint = bitnet_checkpoints / f"bitnet-{seed}"
    reference = read_reference(checkpoint)

    logits = run(load_model(checkpoint, device, "bfloat16"), reference, device)

    theirs = (reference.half_logits - reference.logits).square().mean().sqrt()
    assert (logits - reference.logits).square().mean().sqrt() < 1.1 * theirs
