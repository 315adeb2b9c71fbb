# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A line of the log says that the weights are ternary and what they run with; once for a model."""

from collections.abc import Callable, Iterator

import pytest

pytest.importorskip("vllm")

import vllm.logger
from ternary_layers import column, make_config, row
from ternary_stand_in import use_stand_in
from vllm.model_executor.layers.quantization import get_quantization_config


@pytest.fixture
def log(
    monkeypatch: pytest.MonkeyPatch, tensor_parallel: Callable[[int, int], None]
) -> Iterator[list[str]]:
    """What is logged once in this test."""
    get_quantization_config("ternary")
    from vllm.model_executor.layers.quantization import ternary

    lines: list[str] = []
    monkeypatch.setattr(
        ternary.logger, "info", lambda line, *values, **options: lines.append(line % values)
    )
    vllm.logger._print_info_once.cache_clear()
    yield lines
    vllm.logger._print_info_once.cache_clear()


def test_without_a_gpu(log: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from vllm.model_executor.layers.quantization import ternary

    monkeypatch.setattr(ternary.current_platform, "is_cuda", lambda: False)
    config = make_config()
    column(config, 32, 64)
    row(config, 64, 32)
    assert log == [
        "Ternary weights (quant_method ternary): 16-bit activations, multiplied by PyTorch."
    ]


def test_with_kernels(log: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    use_stand_in(monkeypatch)
    config = make_config(activation="int8")
    column(config, 32, 64)
    row(config, 64, 32)
    assert log == [
        "Ternary weights (quant_method ternary): 8-bit activations, multiplied by the ternary CUDA "
        "kernels."
    ]
