# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""On a GPU the kernel is called by its contract; a stand-in on the CPU checks each call."""

import pytest

pytest.importorskip("vllm")

import torch
from bitnet_layers import (
    KINDS,
    NORM,
    assert_same,
    expected,
    fuse,
    make_config,
    make_projection,
    unpack_planes,
)
from ternary_layers import (
    TensorParallel,
    column,
    finish,
    pack,
    qkv,
    quantize_tokens,
    random_input,
    row,
)
from ternary_stand_in import use_stand_in
from vllm.model_executor.layers.quantization import bitnet


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
    assert scale.dtype == torch.float32
    assert scale.shape == (1, size_n) and scale.is_contiguous() and group_size == -1
    assert bias is None or (bias.dtype == x.dtype and bias.shape == (size_n,))
    assert act_int8
    codes = torch.stack([(weight >> shift) & 3 for shift in (0, 2, 4, 6)], dim=-1).flatten(1)
    codes = torch.where(codes == 2, -1, codes.to(torch.int8))
    out = quantize_tokens(x) @ (codes * scale.T).double().T
    return (out if bias is None else out + bias).to(x.dtype)


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    use_stand_in(monkeypatch, ternary_pack, ternary_gemm)


@pytest.mark.usefixtures("tensor_parallel", "kernel")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("norm", [False, True])
class TestCall:
    @pytest.mark.parametrize("size_k", [96, 30])
    def test_one_projection(self, kind: str, norm: bool, size_k: int) -> None:
        projection = make_projection(kind, 24, size_k, bias=True, norm=norm)
        layer = column(make_config(kind, **(NORM if norm else {})), size_k, 24, bias=True)
        projection.load(layer)
        x = random_input(6, size_k)

        out = finish(layer)(x.reshape(2, 3, size_k))

        assert out.shape == (2, 3, 24)
        assert_same(out.flatten(0, 1), projection.transformers(x), projection.scaled_bias)

    def test_fused_projections(self, kind: str, norm: bool) -> None:
        layer = qkv(make_config(kind, **(NORM if norm else {})), 96, heads=4, kv_heads=2)
        parts = {
            shard: make_projection(kind, rows, norm=norm, seed=seed)
            for seed, (shard, rows) in enumerate({"q": 64, "k": 32, "v": 32}.items())
        }
        x = random_input(6, 96)

        assert_same(fuse(layer, parts)(x), expected(parts.values(), x))


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("size_k", [96, 30])
@pytest.mark.parametrize("rank", [0, 1])
def test_cut_input_channels(
    tensor_parallel: TensorParallel, monkeypatch: pytest.MonkeyPatch, size_k: int, rank: int
) -> None:
    projection = make_projection("autobitlinear", 24, size_k)
    tensor_parallel(rank, 2)
    layer = row(make_config("autobitlinear"), size_k, 24)
    projection.load(layer)
    x = random_input(6, size_k)
    largest = x.abs().amax(dim=-1, keepdim=True)
    monkeypatch.setattr(bitnet, "tensor_model_parallel_all_gather", lambda _: largest)

    out = finish(layer)(x.chunk(2, dim=-1)[rank])

    # Without the activations of the other rank, but for the largest of them.
    x.chunk(2, dim=-1)[1 - rank].zero_()
    whole = quantize_tokens(torch.cat([x, largest], dim=-1))[:, :-1]
    weight = unpack_planes(projection.tensors["weight"], 24).double()
    assert_same(out, whole @ weight.T * projection.tensors["weight_scale"].double())


@pytest.mark.usefixtures("kernel")
def test_float32_is_refused() -> None:
    assert make_config().get_supported_act_dtypes() == [torch.float16, torch.bfloat16]
