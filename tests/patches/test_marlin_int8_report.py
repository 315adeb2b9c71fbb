# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The start-up report: a line a group of layers, why where not int8, a warning if none is."""

from types import SimpleNamespace
from unittest import mock

import pytest

pytest.importorskip("vllm")

import torch
from marlin_emulation import checkpoint, kernel
from vllm.model_executor.kernels.linear import MacheteLinearKernel
from vllm.model_executor.layers.fused_moe.experts.marlin_moe import MarlinExperts
from vllm.model_executor.model_loader import utils
from vllm.scalar_type import scalar_types


def layer(name: str, layer_kernel: object) -> torch.nn.Module:
    """A processed layer: its name, and a method that holds its kernel."""
    module = torch.nn.Module()
    module.prefix = name
    module.quant_method = SimpleNamespace(kernel=layer_kernel)
    return module


def report(monkeypatch: pytest.MonkeyPatch, *layers: torch.nn.Module) -> mock.Mock:
    """Run what loading ends with. Returns the report's logger."""
    from vllm.model_executor.layers.quantization.utils import marlin_report

    logger = mock.Mock()
    monkeypatch.setattr(marlin_report, "logger", logger)
    model = torch.nn.Sequential(*layers)
    monkeypatch.setattr(utils, "maybe_retie_word_embeddings", lambda *_: None)
    utils.process_weights_after_loading(
        model, SimpleNamespace(quantization=None, dtype=torch.bfloat16), torch.device("cpu")
    )
    return logger


def lines(log: mock.Mock) -> list[str]:
    return [call.args[0] % call.args[1:] for call in log.call_args_list]


def test_groups_and_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_MARLIN_INPUT_DTYPE", "int8")
    c = checkpoint(64, 128, 1)
    int8, a16 = kernel(c, torch.int8), kernel(c, torch.bfloat16)
    a16.config.weight_type = scalar_types.uint8b128
    machete = object.__new__(MacheteLinearKernel)
    machete.config = a16.config
    experts = object.__new__(MarlinExperts)
    experts.input_dtype = torch.int8
    moe = layer("model.layers.0.mlp.experts", None)
    moe.quant_method.moe_kernel = SimpleNamespace(fused_experts=experts)
    log = report(
        monkeypatch,
        layer("model.layers.0.q", int8),
        layer("model.layers.1.q", int8),
        layer("lm_head", a16),
        layer("model.layers.0.o", a16),
        layer("model.layers.0.k", machete),
        moe,
        torch.nn.Linear(2, 2),
    )
    start = "VLLM_MARLIN_INPUT_DTYPE=int8:"
    assert lines(log.info) == [
        f"{start} 2 x SimpleNamespace, MarlinLinearKernel: int8 activations, "
        "e.g. 'model.layers.0.q'",
        f"{start} 1 x SimpleNamespace, MarlinLinearKernel: 16-bit activations "
        "(not selected by its name), e.g. 'lm_head'",
        f"{start} 1 x SimpleNamespace, MarlinLinearKernel: 16-bit activations "
        "(no such kernel for these weights), e.g. 'model.layers.0.o'",
        f"{start} 1 x SimpleNamespace, MacheteLinearKernel: 16-bit activations "
        "(the variable is for Marlin only: try --linear-backend marlin), e.g. 'model.layers.0.k'",
        f"{start} 1 x SimpleNamespace, MarlinExperts: int8 activations, "
        "e.g. 'model.layers.0.mlp.experts'",
    ]
    assert not log.warning.called


def test_warning_if_no_layer_uses_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_MARLIN_INPUT_DTYPE", "int8")
    log = report(monkeypatch, torch.nn.Linear(2, 2))
    assert lines(log.warning) == [
        "VLLM_MARLIN_INPUT_DTYPE=int8 is set, but no layer of Sequential uses it."
    ]
