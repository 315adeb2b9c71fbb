# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""float16 is refused, because the squared activations of a model that is trained overflow it."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vllm")

import torch
from vllm.config import ModelConfig


def make_config(checkpoints: Path, **options: Any) -> ModelConfig:
    return ModelConfig(str(checkpoints / "bitnet-0"), skip_tokenizer_init=True, **options)


def test_refused_by_one_line(bitnet_checkpoints: Path) -> None:
    with pytest.raises(ValueError, match=r"'bitnet' does not support float16\. .*overflow[^\n]*"):
        make_config(bitnet_checkpoints, dtype="float16")


def test_not_chosen(bitnet_checkpoints: Path) -> None:
    config = make_config(bitnet_checkpoints, hf_overrides={"dtype": "float16"})
    assert config.dtype in (torch.bfloat16, torch.float32)


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_others_are_accepted(bitnet_checkpoints: Path, dtype: str) -> None:
    assert make_config(bitnet_checkpoints, dtype=dtype).dtype == getattr(torch, dtype)
