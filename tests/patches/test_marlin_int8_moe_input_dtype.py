# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""MoE layers: the experts run with the activation type that their weights were processed for."""

from types import SimpleNamespace
from unittest import mock

import pytest

pytest.importorskip("vllm")

import torch
from compressed_tensors.quantization import QuantizationArgs
from vllm.model_executor.layers.fused_moe import RoutedExperts
from vllm.model_executor.layers.fused_moe.experts.marlin_moe import MarlinExperts
from vllm.model_executor.layers.fused_moe.oracle import int_wna16
from vllm.model_executor.layers.quantization import auto_awq, auto_gptq
from vllm.model_executor.layers.quantization.compressed_tensors.compressed_tensors_moe import (
    CompressedTensorsMoEMethod,
    compressed_tensors_moe_wna16,
)
from vllm.model_executor.layers.quantization.inc.schemes.inc_wna16_scheme import INCWna16Scheme
from vllm.platforms import current_platform

LAYER, EXCLUDED = "model.layers.0.mlp.experts", "mtp.layers.0.mlp.experts"


def experts_layer() -> RoutedExperts:
    layer = RoutedExperts.__new__(RoutedExperts)
    torch.nn.Module.__init__(layer)
    layer.moe_config = SimpleNamespace(has_bias=False)
    for projection in ("gate_proj", "down_proj", "up_proj"):
        setattr(layer, f"ckpt_{projection}_name", projection)
    return layer


def gptq(name: str, bits: int = 4) -> object:
    config = auto_gptq.AutoGPTQConfig(bits, 128, False, True, False, {}, {})
    return config.get_quant_method(experts_layer(), name)


def awq(name: str) -> object:
    config = auto_awq.AutoAWQConfig(4, 128, True, False, [], {})
    return config.get_quant_method(experts_layer(), name)


def inc(name: str, packing: str) -> object:
    config = SimpleNamespace(
        bits=4,
        sym=packing == "gptq",
        group_size=128,
        is_gptq=packing == "gptq",
        is_awq=True,
        act_int8=False,
    )
    return INCWna16Scheme().get_moe_method(None, experts_layer(), name, config)


def compressed_tensors(name: str) -> object:
    weights = QuantizationArgs(num_bits=4, strategy="group", group_size=128, symmetric=True)
    config = mock.MagicMock(_is_wNa16_group_channel=lambda *_: True)
    config.get_scheme_dict.return_value = {
        "weights": weights,
        "input_activations": None,
        "format": "pack-quantized",
    }
    for check in ("_is_mxfp4_w4a8_fp8", "_is_mxfp4", "_is_mxfp8"):
        getattr(config, check).return_value = False
    return CompressedTensorsMoEMethod.get_moe_method(config, experts_layer(), name)


@pytest.fixture(autouse=True)
def marlin_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_MARLIN_INPUT_DTYPE", "int8")
    monkeypatch.setattr(current_platform, "is_cpu", lambda: False)
    backend = (int_wna16.WNA16MoEBackend.MARLIN, MarlinExperts)
    for module in (auto_gptq, auto_awq, compressed_tensors_moe_wna16):
        monkeypatch.setattr(module, "select_wna16_moe_backend", lambda *_, **__: backend)
    supports = "check_moe_marlin_supports"
    for module in (auto_gptq, auto_awq):
        monkeypatch.setattr(module, f"{supports}_layer", lambda *_, **__: True)
    monkeypatch.setattr(
        f"vllm.model_executor.layers.quantization.utils.marlin_utils.{supports}_layer",
        lambda *_, **__: True,
    )
    monkeypatch.setattr(compressed_tensors_moe_wna16, f"{supports}_config", lambda *_, **__: True)


METHODS = pytest.mark.parametrize(
    "build",
    [
        gptq,
        awq,
        compressed_tensors,
        lambda name: inc(name, "gptq"),
        lambda name: inc(name, "awq"),
    ],
    ids=["gptq", "awq", "compressed-tensors", "inc-gptq", "inc-awq"],
)


@METHODS
@pytest.mark.parametrize(("name", "dtype"), [(LAYER, torch.int8), (EXCLUDED, None)])
def test_weights_and_experts_agree(build, name, dtype, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """The decision is made with the layer's name, and handed to the experts."""
    method = build(name)
    assert method.input_dtype == dtype

    made = mock.Mock()
    monkeypatch.setattr(type(method), "get_fused_moe_quant_config", lambda *_: object())
    monkeypatch.setitem(type(method)._setup_kernel.__globals__, "make_wna16_moe_kernel", made)
    method._setup_kernel(SimpleNamespace(_expert_routing_tables=lambda: None))
    assert made.call_args.kwargs["input_dtype"] == dtype


def test_eight_bit_experts_keep_16_bits() -> None:
    assert gptq(LAYER, bits=8).input_dtype is None  # type: ignore[attr-defined]


@pytest.mark.parametrize("scheme", ["use_mxfp4_w4a16", "use_fp8_w8a16"])
def test_experts_without_such_a_kernel_keep_16_bits(scheme: str) -> None:
    """MXFP4 and MXFP8 experts are made without a decision of their quant method."""
    schemes = dict.fromkeys(("use_mxfp4_w4a16", "use_fp8_w8a16", "use_int4_w4a16"), False)
    config = mock.MagicMock(**schemes | {scheme: True})
    assert MarlinExperts(mock.MagicMock(), config).input_dtype is None


@pytest.mark.parametrize("dtype", [torch.int8, None])
def test_experts_take_the_dtype(monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype | None) -> None:
    monkeypatch.setattr(MarlinExperts, "is_monolithic", staticmethod(lambda: False))
    monkeypatch.setattr(
        "vllm.model_executor.layers.fused_moe.all2all_utils.maybe_make_prepare_finalize",
        mock.Mock(),
    )
    kernel = mock.Mock()
    monkeypatch.setattr(int_wna16.mk, "FusedMoEKernel", kernel)
    quant_config = int_wna16.make_wna16_moe_quant_config(
        torch.ones(1), torch.ones(1), group_size=128, num_bits=4
    )
    int_wna16.make_wna16_moe_kernel(
        quant_config, mock.MagicMock(), MarlinExperts, input_dtype=dtype
    )
    assert kernel.call_args.args[1].input_dtype == dtype
