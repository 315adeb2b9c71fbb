# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A safetensors file that is not complete is refused by one line that names it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vllm")

import torch
from safetensors.torch import save_file
from vllm.model_executor.model_loader.weight_utils import (
    multi_thread_safetensors_weights_iterator,
    safetensors_weights_iterator,
)

Iterate = Callable[..., Iterator[Any]]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "model-00001-of-00002.safetensors"
    save_file({"a": torch.ones(64, 64), "b": torch.ones(64)}, path)
    return path


def lazily(file: Path) -> Iterator[Any]:
    return safetensors_weights_iterator([str(file)], use_tqdm_on_load=False)


def eagerly(file: Path) -> Iterator[Any]:
    return safetensors_weights_iterator(
        [str(file)], use_tqdm_on_load=False, safetensors_load_strategy="eager"
    )


def with_threads(file: Path) -> Iterator[Any]:
    return multi_thread_safetensors_weights_iterator([str(file)], use_tqdm_on_load=False)


@pytest.mark.parametrize("iterate", [lazily, eagerly, with_threads])
@pytest.mark.parametrize("left", [0, 4, 20, -1, -300])
def test_truncated_file(file: Path, iterate: Iterate, left: int) -> None:
    content = file.read_bytes()
    file.write_bytes(content[:left])
    with pytest.raises(ValueError) as error:
        list(iterate(file))
    message = str(error.value)
    assert message.startswith(f"{file} is not a complete safetensors file (")
    assert message.endswith("); download it again.")
    assert "\n" not in message


@pytest.mark.parametrize("iterate", [lazily, eagerly, with_threads])
def test_whole_file(file: Path, iterate: Iterate) -> None:
    assert sorted(name for name, _ in iterate(file)) == ["a", "b"]
