# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""On Hopper, layers that are to run with int8 activations get Marlin, the others what they got."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest

pytest.importorskip("vllm")

import torch
from compressed_tensors.quantization import QuantizationArgs
from marlin_schemes import kernel_of
from vllm.model_executor.kernels import linear
from vllm.model_executor.kernels.linear import (
    HummingLinearKernel,
    MacheteLinearKernel,
    MarlinLinearKernel,
    MPLinearLayerConfig,
)
from vllm.model_executor.kernels.linear.mixed_precision import humming
from vllm.model_executor.layers.fused_moe.oracle import int_wna16
from vllm.model_executor.layers.fused_moe.oracle.int_wna16 import WNA16MoEBackend
from vllm.model_executor.layers.quantization import auto_awq, auto_gptq
from vllm.model_executor.layers.quantization.compressed_tensors.schemes import (
    CompressedTensorsScheme,
    compressed_tensors_w4a8_int,
    compressed_tensors_wNa8,
    compressed_tensors_wNa16,
)
from vllm.model_executor.layers.quantization.inc.schemes import inc_wna16_scheme
from vllm.model_executor.layers.quantization.utils import marlin_report
from vllm.model_executor.layers.quantization.utils.humming import priority
from vllm.platforms import current_platform
from vllm.platforms.interface import DeviceCapability, PlatformEnum
from vllm.scalar_type import scalar_types

LAYER, HEAD = "model.layers.0.mlp.down_proj", "lm_head"


@pytest.fixture(autouse=True)
def hopper(monkeypatch: pytest.MonkeyPatch, tensor_parallel: object) -> None:
    """A Hopper GPU on which Humming is installed, as vLLM requires it."""
    monkeypatch.setattr(current_platform, "_enum", PlatformEnum.CUDA)
    monkeypatch.setattr(current_platform, "is_cuda", lambda: True)
    monkeypatch.setattr(current_platform, "is_cpu", lambda: False)
    monkeypatch.setattr(
        current_platform, "get_device_capability", lambda *_, **__: DeviceCapability(9, 0)
    )
    monkeypatch.setattr(current_platform, "is_device_capability", lambda c: c in (90, (9, 0)))
    monkeypatch.setattr(humming, "has_humming", lambda: True)
    monkeypatch.setenv("VLLM_MARLIN_INPUT_DTYPE", "int8")
    use_backend(monkeypatch, "auto")


def use_backend(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """--linear-backend NAME"""
    monkeypatch.setattr(linear, "_get_linear_backend", lambda **_: name)


def weights(layer: torch.nn.Module, method: Any) -> Any:
    """Make the weights of a layer of 256 x 1024. Returns its kernel."""
    return kernel_of(method, layer, 1024)


def gptq(name: str) -> Any:
    method = object.__new__(auto_gptq.AutoGPTQLinearMethod)
    method.quant_config = auto_gptq.AutoGPTQConfig(4, 128, False, True, True, {}, {})
    method.quant_type = scalar_types.uint4b8
    method.input_dtype = auto_gptq.get_marlin_input_dtype(name, scalar_types.uint4b8)
    return weights(torch.nn.Module(), method)


def awq(name: str) -> Any:
    method = object.__new__(auto_awq.AutoAWQMarlinLinearMethod)
    method.quant_config = auto_awq.AutoAWQConfig(4, 128, True, True, [], {})
    method.input_dtype = auto_gptq.get_marlin_input_dtype(name, scalar_types.uint4)
    return weights(torch.nn.Module(), method)


def compressed_tensors(name: str) -> Any:
    scheme = compressed_tensors_wNa16.CompressedTensorsWNA16(
        strategy="group", num_bits=4, group_size=128, layer_name=name
    )
    return weights(torch.nn.Module(), scheme)


PATHS = pytest.mark.parametrize("path", [gptq, awq, compressed_tensors])


@PATHS
@pytest.mark.parametrize(
    ("name", "kernel", "act_type"),
    [(LAYER, MarlinLinearKernel, torch.int8), (HEAD, MacheteLinearKernel, torch.bfloat16)],
)
def test_dense(
    path: Callable[[str], Any], name: str, kernel: type[object], act_type: torch.dtype
) -> None:
    chosen = path(name)
    assert (type(chosen), chosen.config.act_type) == (kernel, act_type)


def test_a_named_backend_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    use_backend(monkeypatch, "machete")
    chosen = compressed_tensors(LAYER)
    assert (type(chosen), chosen.config.act_type) == (MacheteLinearKernel, torch.bfloat16)


def test_without_preference_humming_is_asked_first() -> None:
    """The day this fails, upstream asks Marlin first, and the preference can go."""
    config = MPLinearLayerConfig(
        full_weight_shape=(1024, 256),
        partition_weight_shape=(1024, 256),
        weight_type=scalar_types.uint4b8,
        act_type=torch.int8,
        group_size=128,
        zero_points=False,
    )
    assert linear.choose_mp_linear_kernel(config) is HummingLinearKernel


@pytest.mark.parametrize(
    "scheme",
    [
        compressed_tensors_w4a8_int.CompressedTensorsW4A8Int,
        compressed_tensors_wNa8.CompressedTensorsWNA8Int,
    ],
)
def test_checkpoint_that_asks_for_int8(
    monkeypatch: pytest.MonkeyPatch, scheme: type[CompressedTensorsScheme]
) -> None:
    monkeypatch.delenv("VLLM_MARLIN_INPUT_DTYPE")
    options: dict[str, Any] = {"strategy": "group", "num_bits": 4, "group_size": 128}
    if scheme is compressed_tensors_wNa8.CompressedTensorsWNA8Int:
        options["input_quant"] = QuantizationArgs(num_bits=8, strategy="token", dynamic=True)
    assert type(weights(torch.nn.Module(), scheme(**options))) is MarlinLinearKernel


@pytest.mark.parametrize(("variable", "marlin_first"), [("int8", True), (None, False)])
def test_experts(monkeypatch: pytest.MonkeyPatch, variable: str | None, marlin_first: bool) -> None:
    monkeypatch.setattr(priority, "prefers_humming", lambda *_: True)
    if variable is None:
        monkeypatch.delenv("VLLM_MARLIN_INPUT_DTYPE")
    order = int_wna16._get_priority_backends()
    marlin, humming = order.index(WNA16MoEBackend.MARLIN), order.index(WNA16MoEBackend.HUMMING)
    assert (marlin < humming) is marlin_first
    assert humming < order.index(WNA16MoEBackend.TRITON)  # what Marlin cannot run: as before


@pytest.mark.parametrize("backend", [WNA16MoEBackend.MARLIN, WNA16MoEBackend.HUMMING])
def test_experts_that_ask_for_int8_and_keep_16_bits(
    monkeypatch: pytest.MonkeyPatch, backend: WNA16MoEBackend
) -> None:
    monkeypatch.delenv("VLLM_MARLIN_INPUT_DTYPE")
    logger = mock.Mock()
    monkeypatch.setattr(inc_wna16_scheme, "logger", logger)
    method = object.__new__(auto_gptq.AutoGPTQMoEMethod)
    method.quant_config = SimpleNamespace(quant_type=scalar_types.uint4b8)
    method.wna16_moe_backend = backend
    monkeypatch.setattr(inc_wna16_scheme, "_resolve_gptq_moe", lambda *_: method)
    config = SimpleNamespace(bits=4, is_gptq=True, act_int8=True)
    inc_wna16_scheme.INCWna16Scheme().get_moe_method(None, torch.nn.Module(), "experts", config)
    assert logger.warning_once.called is (backend is WNA16MoEBackend.HUMMING)


def report(kernel: Any = None, experts: Any = None) -> str:
    """The start-up report's line of one layer."""
    layer = torch.nn.Module()
    layer.prefix = LAYER
    layer.quant_method = SimpleNamespace(
        kernel=kernel,
        wna16_moe_backend=WNA16MoEBackend.HUMMING,
        moe_kernel=SimpleNamespace(fused_experts=experts),
    )
    with mock.patch.object(marlin_report, "logger") as logger:
        marlin_report.report_marlin_input_dtype(layer)
    call = logger.info.call_args
    return str(call.args[0] % call.args[1:])


def test_report_of_experts_in_another_backend() -> None:
    reason = "16-bit activations (the variable is for Marlin only: try --moe-backend marlin)"
    assert reason in report(experts=SimpleNamespace())


@pytest.mark.parametrize(
    ("variable", "act_type", "words"),
    [
        ("int8", torch.bfloat16, "16-bit activations (its quantization method does not look"),
        ("fp8", torch.int8, "int8 activations (as the checkpoint asks)"),
    ],
)
def test_report_of_an_int4_layer_that_the_variable_does_not_reach(
    monkeypatch: pytest.MonkeyPatch, variable: str, act_type: torch.dtype, words: str
) -> None:
    monkeypatch.setenv("VLLM_MARLIN_INPUT_DTYPE", variable)
    kernel = object.__new__(MarlinLinearKernel)
    kernel.config = SimpleNamespace(act_type=act_type, weight_type=scalar_types.uint4b8)
    assert words in report(kernel)


def test_report_on_a_gpu_without_fp8_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not an error where no layer asks for them."""
    monkeypatch.setenv("VLLM_MARLIN_INPUT_DTYPE", "fp8")
    with mock.patch.object(marlin_report, "logger") as logger:
        marlin_report.report_marlin_input_dtype(torch.nn.Linear(2, 2))
    assert logger.warning.called


def test_report_of_another_kernel_that_was_asked_for_int8() -> None:
    """Its configuration says int8, which is no proof that it does."""
    kernel = object.__new__(HummingLinearKernel)
    kernel.config = SimpleNamespace(act_type=torch.int8)
    assert "HummingLinearKernel: activations as the kernel has it" in report(kernel)
