# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""On a GPU the kernel is called by its contract; a stand-in on the CPU checks each call."""

from types import SimpleNamespace

import pytest

pytest.importorskip("vllm")

import torch
from ternary_layers import (
    assert_product,
    column,
    dequantize,
    finish,
    load,
    make_config,
    pack,
    random_codes,
    random_input,
    random_scale,
)
from ternary_stand_in import use_stand_in
from vllm.model_executor.layers.quantization import ternary

SIZE_N = 24


def ternary_pack(weight: torch.Tensor) -> torch.Tensor:
    assert weight.dtype == torch.int8 and weight.is_contiguous()
    assert weight.shape[1] % 8 == 0
    return pack(weight)


def ternary_gemm(
    x: torch.Tensor,
    weight: torch.Tensor,
    scale: torch.Tensor,
    bias: torch.Tensor | None,
    size_n: int,
    size_k: int,
    group_size: int,
    act_int8: bool,
) -> torch.Tensor:
    assert x.ndim == 2 and x.is_contiguous() and x.shape[1] == size_k
    assert size_k % 8 == 0
    assert weight.dtype == torch.uint8 and weight.shape == (size_n, size_k // 4)
    groups = 1 if group_size == -1 else size_k // group_size
    assert scale.shape == (groups, size_n) and scale.is_contiguous()
    assert not act_int8
    codes = torch.stack([(weight >> shift) & 3 for shift in (0, 2, 4, 6)], dim=-1).flatten(1)
    codes = torch.where(codes == 2, -1, codes.to(torch.int8))
    out = x.double() @ dequantize(codes, scale.T).T
    return (out if bias is None else out + bias).to(x.dtype)


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    use_stand_in(monkeypatch, ternary_pack, ternary_gemm)


@pytest.mark.usefixtures("tensor_parallel", "kernel")
class TestCall:
    @pytest.mark.parametrize(
        ("size_k", "group_size", "shape"),
        [
            (128, 0, (1,)),
            (128, -1, (SIZE_N, 1)),
            (128, 64, (SIZE_N, 2)),
            (128, 128, (SIZE_N, 1)),
            (30, -1, (SIZE_N, 1)),
        ],
        ids=["tensor", "channel", "groups", "one-group", "odd-inputs"],
    )
    @pytest.mark.parametrize("packed", [False, True], ids=["int8", "packed"])
    def test_arguments(
        self, size_k: int, group_size: int, shape: tuple[int, ...], packed: bool
    ) -> None:
        codes, scale = random_codes(SIZE_N, size_k), random_scale(*shape)
        config = make_config(group_size=group_size, format="packed" if packed else "int8")
        layer = column(config, size_k, SIZE_N, bias=True)
        if packed:
            load(layer, "weight_packed", pack(codes))
        else:
            load(layer, "weight", codes)
        load(layer, "weight_scale", scale)
        bias = random_scale(SIZE_N).bfloat16()
        load(layer, "bias", bias)
        x = random_input(6, size_k)

        out = finish(layer)(x.reshape(2, 3, size_k))

        assert out.shape == (2, 3, SIZE_N)
        assert_product(out.flatten(0, 1), x, dequantize(codes, scale), bias)

    def test_rows_that_are_not_contiguous(self) -> None:
        codes = random_codes(SIZE_N, 64)
        layer = column(make_config(), 64, SIZE_N)
        load(layer, "weight", codes)
        x = random_input(3, 128)[:, :64]

        assert_product(finish(layer)(x), x, dequantize(codes, None))


@pytest.mark.usefixtures("tensor_parallel", "kernel")
def test_missing_extension_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ternary.torch.ops, "_ternary_C", SimpleNamespace())
    with pytest.raises(RuntimeError, match=r"^The ternary kernels are missing: [^\n]+$"):
        column(make_config(), 64, SIZE_N)
