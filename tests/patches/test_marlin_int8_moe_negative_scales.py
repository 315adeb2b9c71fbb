# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""MoE layers: negative group scales leave the experts' integers exact."""

from types import SimpleNamespace

import pytest

pytest.importorskip("vllm")

import torch
from compressed_tensors.quantization import QuantizationArgs
from marlin_emulation import Checkpoint, checkpoint, kernel_integers, pack_rows, unpack_rows
from vllm import _custom_ops as ops
from vllm.model_executor.layers.fused_moe.oracle.int_wna16 import (
    WNA16MoEBackend,
    convert_to_wna16_moe_kernel_format,
)
from vllm.model_executor.layers.quantization.auto_awq import AutoAWQConfig
from vllm.model_executor.layers.quantization.auto_gptq import AutoGPTQConfig

EXPERTS, HIDDEN, INTERMEDIATE, GROUP = 2, 256, 128, 64
AWQ_ORDER = [0, 2, 4, 6, 1, 3, 5, 7]  # the column that each nibble of an AWQ word holds


def stack(n: int, k: int, negative: float, asymmetric: bool) -> list[Checkpoint]:
    """The experts of w13 or w2."""
    experts = [checkpoint(n, k, k // GROUP, asymmetric=asymmetric) for _ in range(EXPERTS)]
    for i, c in enumerate(experts):
        g = torch.Generator().manual_seed(i)
        c.scales[torch.rand(c.scales.shape, generator=g) < negative] *= -1
    return experts


def pack_awq(values: torch.Tensor) -> torch.Tensor:
    """int32 [rows, N] -> AWQ words [rows, N / 8]."""
    return pack_rows(values.unflatten(-1, (-1, 8))[..., AWQ_ORDER].flatten(-2))


def convert(method: str, w13: list[Checkpoint], w2: list[Checkpoint]):  # type: ignore[no-untyped-def]
    """Run the conversion on the checkpoint's layout of each method."""
    layer = SimpleNamespace(
        layer_name="model.layers.0.mlp.experts",
        intermediate_size_per_partition=INTERMEDIATE,
        num_groups_w13=HIDDEN // GROUP,
        num_groups_w2=INTERMEDIATE // GROUP,
    )
    asymmetric = w13[0].zeros is not None
    tensors = {}
    for name, experts in (("w13", w13), ("w2", w2)):
        codes = torch.stack([c.codes for c in experts])  # [E, N, K]
        scales = torch.stack([c.scales for c in experts])  # [E, N, G]
        zeros = torch.stack(
            [torch.full_like(c.scales, 8).int() if c.zeros is None else c.zeros for c in experts]
        ).transpose(1, 2)  # [E, G, N]
        if method == "awq":
            tensors[name] = pack_awq(codes.transpose(1, 2))
            tensors[f"{name}_scale"] = scales.transpose(1, 2).contiguous()
            tensors[f"{name}_qzeros"] = pack_awq(zeros)
        else:
            tensors[name] = pack_rows(codes)
            tensors[f"{name}_scale"] = scales
            if asymmetric or method == "gptq":
                # GPTQ checkpoints store a symmetric zero point of 7, which means 8.
                stored = zeros if asymmetric else zeros - 1
                tensors[f"{name}_qzeros"] = pack_rows(stored).transpose(1, 2).contiguous()
    config = {
        "awq": AutoAWQConfig(4, GROUP, asymmetric, False, [], {}),
        "gptq": AutoGPTQConfig(4, GROUP, False, True, False, {}, {}),
        "ct": QuantizationArgs(
            num_bits=4, strategy="group", group_size=GROUP, symmetric=not asymmetric
        ),
    }[method]
    return convert_to_wna16_moe_kernel_format(
        backend=WNA16MoEBackend.MARLIN,
        layer=layer,
        quant_config=config,
        input_dtype=torch.int8,
        **tensors,
    )


@pytest.fixture(autouse=True)
def repack(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand-ins of the repacking kernels: [E, K / 16, 2 N] that holds the GPTQ words in order."""

    def gptq(words, size_k, size_n, num_bits, is_a_8bit):  # type: ignore[no-untyped-def]
        assert is_a_8bit
        return words.reshape(EXPERTS, size_k // 16, size_n * 2)

    def awq(words, size_k, size_n, num_bits, is_a_8bit):  # type: ignore[no-untyped-def]
        columns = unpack_rows(words).unflatten(-1, (-1, 8))
        inverse = [AWQ_ORDER.index(i) for i in range(8)]
        codes = columns[..., inverse].flatten(-2)  # [E, K, N]
        gptq_words = pack_rows(codes.transpose(1, 2)).transpose(1, 2).contiguous()
        return gptq(gptq_words, size_k, size_n, num_bits, is_a_8bit)

    monkeypatch.setattr(ops, "gptq_marlin_moe_repack", gptq)
    monkeypatch.setattr(ops, "awq_marlin_moe_repack", awq)


@pytest.mark.parametrize(
    ("method", "asymmetric"),
    [("ct", False), ("ct", True), ("gptq", False), ("awq", False), ("awq", True)],
)
@pytest.mark.parametrize(("w13_negative", "w2_negative"), [(0.5, 0.5), (0.0, 0.5), (1.0, 0.0)])
def test_integers_are_exact(
    method: str, asymmetric: bool, w13_negative: float, w2_negative: float
) -> None:
    """w13 and w2 run with one kernel: a negative scale in either gives both zero points."""
    w13 = stack(2 * INTERMEDIATE, HIDDEN, w13_negative, asymmetric)
    w2 = stack(HIDDEN, INTERMEDIATE, w2_negative, asymmetric)
    q13, q2, s13, s2, z13, z2, *_ = convert(method, w13, w2)
    for experts, q, s, z in ((w13, q13, s13, z13), (w2, q2, s2, z2)):
        assert (s.view(torch.int16) >= 0).all()
        for e, c in enumerate(experts):
            sign = c.scales.sign().int().repeat_interleave(GROUP, 1)
            integers = kernel_integers(q[e], z[e], c.scales.shape[1], True)
            assert torch.equal(integers, (c.integers() * sign).t().long())


@pytest.mark.parametrize("method", ["ct", "gptq", "awq"])
def test_no_zero_points_without_a_negative_scale(method: str) -> None:
    w13, w2 = stack(2 * INTERMEDIATE, HIDDEN, 0, False), stack(HIDDEN, INTERMEDIATE, 0, False)
    q13, q2, _, _, z13, z2, *_ = convert(method, w13, w2)
    assert z13 is None
    assert z2 is None
    for experts, q in ((w13, q13), (w2, q2)):
        for e, c in enumerate(experts):
            integers = kernel_integers(q[e], torch.empty(0), c.scales.shape[1], True)
            assert torch.equal(integers, c.integers().t().long())


def test_bad_scale_is_refused_by_name() -> None:
    w13, w2 = stack(2 * INTERMEDIATE, HIDDEN, 0, False), stack(HIDDEN, INTERMEDIATE, 0, False)
    w2[1].scales[3, 1] = float("nan")
    with pytest.raises(ValueError, match=r"Layer 'model\.layers\.0\.mlp\.experts' has a NaN"):
        convert("ct", w13, w2)
