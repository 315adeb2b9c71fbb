# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""compressed-tensors experts of int4 weights and int8 activations run as such on CUDA."""

from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest

pytest.importorskip("vllm")

import torch
from compressed_tensors.quantization import QuantizationArgs
from marlin_emulation import Checkpoint, checkpoint, emulate, kernel_integers, pack_rows
from vllm import _custom_ops as ops
from vllm.model_executor.layers.fused_moe import RoutedExperts
from vllm.model_executor.layers.fused_moe.experts.marlin_moe import MarlinExperts
from vllm.model_executor.layers.fused_moe.oracle import int_wna16
from vllm.model_executor.layers.fused_moe.oracle.int_wna16 import WNA16MoEBackend
from vllm.model_executor.layers.quantization.compressed_tensors.compressed_tensors_moe import (
    CompressedTensorsMoEMethod,
    compressed_tensors_moe_wna16,
)
from vllm.platforms import current_platform

EXPERTS, HIDDEN, INTERMEDIATE, GROUP = 2, 256, 128, 64
SHAPES = {"w13": (2 * INTERMEDIATE, HIDDEN), "w2": (HIDDEN, INTERMEDIATE)}


@pytest.fixture(autouse=True)
def cuda(monkeypatch: pytest.MonkeyPatch) -> mock.Mock:
    """A CUDA platform on which Marlin is selected. Returns the selection."""
    emulate(monkeypatch)
    monkeypatch.delenv("VLLM_MARLIN_INPUT_DTYPE", raising=False)
    monkeypatch.setattr(current_platform, "is_cuda", lambda: True)
    monkeypatch.setattr(current_platform, "is_cpu", lambda: False)

    def repack(weight: torch.Tensor, k: int, n: int, bits: int, is_a_8bit: bool) -> torch.Tensor:
        return weight.reshape(weight.shape[0], k // 16, n * bits // 2)

    monkeypatch.setattr(ops, "gptq_marlin_moe_repack", repack)
    select = mock.Mock(return_value=(WNA16MoEBackend.MARLIN, MarlinExperts))
    module = compressed_tensors_moe_wna16
    monkeypatch.setattr(module, "select_wna16_moe_backend", select)
    monkeypatch.setattr(module, "check_moe_marlin_supports_config", lambda *_, **__: True)
    return select


def make_method(
    groups: bool = True, symmetric_input: bool = True, form: str = "int-quantized"
) -> Any:
    """What a model makes of a checkpoint's configuration for its experts."""
    weights = QuantizationArgs(
        num_bits=4,
        strategy="group" if groups else "channel",
        group_size=GROUP if groups else None,
    )
    activations = QuantizationArgs(
        num_bits=8, strategy="token", dynamic=True, symmetric=symmetric_input
    )
    config = mock.MagicMock()
    for check in (
        "_is_mxfp4_w4a8_fp8",
        "_is_mxfp4",
        "_is_mxfp8",
        "_is_wNa16_group_channel",
        "_is_nvfp4_format",
        "_is_fp8_w8a8_sm90",
        "_is_fp8_w8a8_sm100",
        "_is_fp8_w8a8",
        "_is_dynamic_token_w8a8",
        "_is_fp8_w4a8",
    ):
        getattr(config, check).return_value = False
    config.get_scheme_dict.return_value = {
        "weights": weights,
        "input_activations": activations,
        "format": form,
    }
    layer = RoutedExperts.__new__(RoutedExperts)
    torch.nn.Module.__init__(layer)
    layer.moe_config = SimpleNamespace(
        has_bias=False, is_act_and_mul=True, moe_backend="auto", activation=None
    )
    for projection in ("gate_proj", "down_proj", "up_proj"):
        setattr(layer, f"ckpt_{projection}_name", projection)
    return CompressedTensorsMoEMethod.get_moe_method(config, layer, "model.layers.0.mlp.experts")


@pytest.mark.parametrize("groups", [True, False], ids=["groups", "channelwise"])
@pytest.mark.parametrize("negative", [0.0, 0.5])
@pytest.mark.parametrize("form", ["int-quantized", "pack-quantized"])
def test_integers(
    monkeypatch: pytest.MonkeyPatch, groups: bool, negative: float, form: str
) -> None:
    """The codes of the checkpoint, a byte each or packed, are those that the kernel multiplies."""
    method = make_method(groups, form=form)
    assert method.input_dtype == torch.int8
    layer = torch.nn.Module()
    layer.layer_name = "model.layers.0.mlp.experts"
    layer.intermediate_size_per_partition = INTERMEDIATE
    layer._expert_routing_tables = lambda: None
    method.create_weights(layer, EXPERTS, HIDDEN, INTERMEDIATE, torch.bfloat16)
    experts: dict[str, list[Checkpoint]] = {}
    for name, (n, k) in SHAPES.items():
        size = k // GROUP if groups else 1
        experts[name] = [checkpoint(n, k, size, negative=negative) for _ in range(EXPERTS)]
        if form == "int-quantized":
            weight = getattr(layer, f"{name}_weight")
            assert weight.dtype == torch.int8
            weight.data.copy_(torch.stack([c.integers() for c in experts[name]]))
        else:
            weight = getattr(layer, f"{name}_weight_packed")
            weight.data.copy_(torch.stack([pack_rows(c.codes) for c in experts[name]]))
        scale = getattr(layer, f"{name}_weight_scale")
        scale.data.copy_(torch.stack([c.scales for c in experts[name]]))
    made = mock.Mock()
    monkeypatch.setattr(compressed_tensors_moe_wna16, "make_wna16_moe_kernel", made)
    method.process_weights_after_loading(layer)
    assert made.call_args.kwargs["input_dtype"] == torch.int8
    for name, checkpoints in experts.items():
        zeros = getattr(layer, f"{name}_weight_zero_point", None)
        assert (zeros is not None) is (groups and negative > 0)
        for e, c in enumerate(checkpoints):
            sign = c.scales.sign().int().repeat_interleave(c.group_size, 1) if groups else 1
            integers = kernel_integers(
                getattr(layer, f"{name}_weight_packed")[e],
                torch.empty(0) if zeros is None else zeros[e],
                c.scales.shape[1],
                True,
            )
            assert torch.equal(integers, (c.integers() * sign).t().long())


def test_marlin_is_asked_first(cuda: mock.Mock) -> None:
    make_method()
    assert cuda.call_args.kwargs["prefer_marlin"] is True
    assert int_wna16._get_priority_backends(prefer_marlin=True)[0] is WNA16MoEBackend.MARLIN


@pytest.mark.parametrize(
    ("backend", "symmetric", "words"),
    [
        (WNA16MoEBackend.MARLIN, True, None),
        (WNA16MoEBackend.MARLIN, False, "quantized symmetrically"),
        (WNA16MoEBackend.HUMMING, True, "keep 16-bit"),
    ],
)
def test_what_is_not_done_is_said(
    monkeypatch: pytest.MonkeyPatch,
    cuda: mock.Mock,
    backend: WNA16MoEBackend,
    symmetric: bool,
    words: str | None,
) -> None:
    from vllm.model_executor.layers.quantization.compressed_tensors.compressed_tensors_moe import (
        compressed_tensors_moe_w4a8_int8,
    )

    logger = mock.Mock()
    monkeypatch.setattr(compressed_tensors_moe_w4a8_int8, "logger", logger)
    cuda.return_value = (backend, MarlinExperts)
    make_method(symmetric_input=symmetric)
    said = [call.args[0] for call in logger.warning_once.call_args_list]
    assert said == [] if words is None else words in said[0]
