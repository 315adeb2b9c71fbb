# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""compressed-tensors checkpoints of int4 weights and int8 activations run as such on CUDA."""

from unittest import mock

import pytest

pytest.importorskip("vllm")

import torch
from compressed_tensors.quantization import QuantizationArgs
from marlin_emulation import INT8_LIMIT, checkpoint, emulate
from marlin_schemes import act_type_of
from vllm.model_executor.kernels.linear import MarlinLinearKernel
from vllm.model_executor.layers.quantization.compressed_tensors.schemes import (
    compressed_tensors_w4a8_int,
    compressed_tensors_wNa8,
)
from vllm.platforms import current_platform

TOKENS = 16


@pytest.fixture(autouse=True)
def cuda(monkeypatch: pytest.MonkeyPatch) -> mock.Mock:
    """A CUDA platform on which Marlin is chosen. Returns the choice, to see what it is given."""
    choose = mock.Mock(return_value=MarlinLinearKernel)
    for module in (compressed_tensors_w4a8_int, compressed_tensors_wNa8):
        monkeypatch.setattr(module, "choose_mp_linear_kernel", choose)
    monkeypatch.setattr(MarlinLinearKernel, "can_implement", lambda *_: (True, None))
    monkeypatch.setattr(current_platform, "is_cuda", lambda: True)
    return choose


@pytest.mark.parametrize(
    ("n", "k", "groups", "negative"), [(128, 512, 4, 0.0), (128, 512, 4, 0.5), (64, 256, 1, 0.5)]
)
def test_product(
    monkeypatch: pytest.MonkeyPatch,
    tensor_parallel: object,
    cuda: mock.Mock,
    n: int,
    k: int,
    groups: int,
    negative: float,
) -> None:
    calls = emulate(monkeypatch)
    c = checkpoint(n, k, groups, negative=negative)
    scheme = compressed_tensors_w4a8_int.CompressedTensorsW4A8Int(
        strategy="channel" if groups == 1 else "group",
        num_bits=4,
        group_size=None if groups == 1 else k // groups,
    )
    layer = torch.nn.Module()
    layer.prefix = "model.layers.0.mlp.down_proj"
    scheme.create_weights(
        layer,
        output_size=n,
        input_size=k,
        output_partition_sizes=[n],
        input_size_per_partition=k,
        params_dtype=torch.bfloat16,
        weight_loader=lambda *args: None,
    )
    layer.weight.data.copy_(c.integers())
    layer.weight_scale.data.copy_(c.scales)
    scheme.process_weights_after_loading(layer)
    assert sorted(name for name, _ in layer.named_parameters()) == sorted(
        {"weight_packed", "weight_scale", *(["input_global_scale"] if groups > 1 else [])}
        | ({"w_zp"} if isinstance(getattr(layer, "w_zp", None), torch.nn.Parameter) else set())
    )
    x = torch.randn((TOKENS, k), generator=torch.Generator().manual_seed(0)).bfloat16()
    y = scheme.apply_weights(layer, x, None)
    reference = x.double() @ c.weight().t()
    assert (y.double() - reference).norm() / reference.norm() <= INT8_LIMIT
    assert [call["a"] for call in calls] == [torch.int8]
    (config,) = cuda.call_args.args
    assert (config.act_type, config.group_size) == (torch.int8, -1 if groups == 1 else k // groups)


@pytest.mark.parametrize(
    ("bits", "strategy", "is_cuda", "act_type"),
    [
        (4, "token", True, torch.int8),
        (4, "group", True, torch.bfloat16),
        (8, "token", True, torch.bfloat16),
        (4, "token", False, torch.bfloat16),
    ],
)
@pytest.mark.parametrize("symmetric", [True, False])
def test_pack_quantized(
    monkeypatch: pytest.MonkeyPatch,
    tensor_parallel: object,
    cuda: mock.Mock,
    bits: int,
    strategy: str,
    is_cuda: bool,
    act_type: torch.dtype,
    symmetric: bool,
) -> None:
    """The other format; Marlin's int8 activations have a scale a token, for int4 weights only."""
    monkeypatch.setattr(current_platform, "is_cuda", lambda: is_cuda)
    scheme = compressed_tensors_wNa8.CompressedTensorsWNA8Int(
        num_bits=bits,
        strategy="group",
        group_size=128,
        symmetric=symmetric,
        input_quant=QuantizationArgs(
            num_bits=8,
            strategy=strategy,
            group_size=128 if strategy == "group" else None,
            dynamic=True,
        ),
    )
    assert act_type_of(scheme) == act_type


def test_asymmetric_activations_are_said_to_be_symmetric(monkeypatch: pytest.MonkeyPatch) -> None:
    warning = mock.Mock()
    monkeypatch.setattr(compressed_tensors_w4a8_int.logger, "warning_once", warning)
    compressed_tensors_w4a8_int.CompressedTensorsW4A8Int(
        strategy="group", num_bits=4, group_size=128, input_symmetric=False
    )
    (call,) = warning.call_args_list
    assert "quantized symmetrically" in call.args[0]
