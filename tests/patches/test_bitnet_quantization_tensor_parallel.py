# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The ranks' parts of a layer together are the whole layer, though they cut through the planes."""

from collections.abc import Callable

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
    make_input,
    make_projection,
    unpack_planes,
)
from ternary_layers import TensorParallel, column, dequantize, finish, gate_up, qkv, row
from vllm.model_executor.layers.quantization import bitnet


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [64, 30, 6])
def test_output_channels_are_cut(
    device: str, tensor_parallel: TensorParallel, kind: str, rows: int
) -> None:
    projection = make_projection(kind, rows)
    x = make_input(device)
    parts = []
    for rank in (0, 1):
        tensor_parallel(rank, 2)
        layer = column(make_config(kind), 96, rows)
        projection.load(layer)
        parts.append(finish(layer)(x))

    assert_same(torch.cat(parts, dim=-1), projection.transformers(x))


@pytest.fixture
def gather(monkeypatch: pytest.MonkeyPatch) -> Callable[[torch.Tensor, int], None]:
    """What the ranks tell each other when they all have a part of `x`."""

    def stand_in(x: torch.Tensor, ranks: int) -> None:
        largest = torch.stack([part.abs().amax(-1) for part in x.chunk(ranks, dim=-1)], dim=-1)
        squares = x.float().square().sum(dim=-1, keepdim=True)

        def gather_largest(own: torch.Tensor) -> torch.Tensor:
            assert (own == largest).any(dim=-1).all()
            return largest

        monkeypatch.setattr(bitnet, "tensor_model_parallel_all_gather", gather_largest)
        monkeypatch.setattr(bitnet, "tensor_model_parallel_all_reduce", lambda _: squares)

    return stand_in


@pytest.mark.parametrize("kind", KINDS)
# A part of 15 channels does not fill its last byte, which would begin with the next rank's.
@pytest.mark.parametrize("size_k", [96, 30])
@pytest.mark.parametrize("ranks", [2, 3])
def test_input_channels_are_cut(
    device: str,
    tensor_parallel: TensorParallel,
    gather: Callable[[torch.Tensor, int], None],
    kind: str,
    size_k: int,
    ranks: int,
) -> None:
    projection = make_projection(kind, 42, size_k)
    # A rank that has only small activations must not give them finer steps.
    x = make_input(device, size_k=size_k)
    x[:, : size_k // ranks] /= 8
    gather(x, ranks)
    total = torch.zeros(5, 42)
    for rank, part in enumerate(x.chunk(ranks, dim=-1)):
        tensor_parallel(rank, ranks)
        layer = row(make_config(kind), size_k, 42)
        projection.load(layer)
        total += finish(layer)(part).float()

    rounding = 0.0 if device == "cpu" else total.abs().max().item() * ranks
    assert_same(total, projection.transformers(x), rounding)


@pytest.mark.parametrize("rank", [0, 1])
def test_activations_that_are_not_quantized_need_no_step(
    device: str, tensor_parallel: TensorParallel, rank: int
) -> None:
    projection = make_projection("bitlinear", 42)
    tensor_parallel(rank, 2)
    layer = row(make_config(activation="a16"), 96, 42)
    projection.load(layer)
    x = torch.ones(1, 48, dtype=torch.bfloat16)

    sums = dequantize(unpack_planes(projection.tensors["weight"], 42), None)
    wanted = sums.chunk(2, dim=1)[rank].sum(1) / projection.tensors["weight_scale"].double()
    assert_same(finish(layer)(x), wanted.reshape(1, -1))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rank", [0, 1, 2, 3])
def test_fused_layers(device: str, tensor_parallel: TensorParallel, kind: str, rank: int) -> None:
    # Four ranks share two heads of keys; 3 of the 12 rows of a gate are not a whole byte's.
    tensor_parallel(rank, 4)
    x = make_input(device)
    attention = {
        shard: make_projection(kind, rows, seed=seed)
        for seed, (shard, rows) in enumerate({"q": 64, "k": 32, "v": 32}.items())
    }
    q, k, v = (part.transformers(x) for part in attention.values())
    heads = [q.chunk(4, dim=-1)[rank], k.chunk(2, dim=-1)[rank // 2], v.chunk(2, dim=-1)[rank // 2]]
    layer = fuse(qkv(make_config(kind), 96, heads=4, kv_heads=2), attention)
    assert_same(layer(x), torch.cat(heads, dim=-1))

    gates = {seed: make_projection(kind, 12, seed=seed) for seed in (0, 1)}
    chunks = [expected([gate], x).chunk(4, dim=-1)[rank] for gate in gates.values()]
    layer = fuse(gate_up(make_config(kind), 96, 12), gates)
    assert_same(layer(x), torch.cat(chunks, dim=-1))


@pytest.mark.parametrize("kind", KINDS)
def test_norm_of_cut_input_channels(
    device: str,
    tensor_parallel: TensorParallel,
    gather: Callable[[torch.Tensor, int], None],
    kind: str,
) -> None:
    projection = make_projection(kind, 42, norm=True)
    x = make_input(device)
    gather(x, 2)
    normed = []
    for rank, part in enumerate(x.chunk(2, dim=-1)):
        tensor_parallel(rank, 2)
        layer = row(make_config(kind, **NORM), 96, 42)
        projection.load(layer)
        normed.append(finish(layer).rms_norm(part)[0])

    tensor_parallel(0, 1)
    whole = column(make_config(kind, **NORM), 96, 42)
    projection.load(whole)
    torch.testing.assert_close(torch.cat(normed, dim=-1), finish(whole).rms_norm(x)[0])


def test_online_scale_is_that_of_the_whole_tensor(
    device: str, tensor_parallel: TensorParallel
) -> None:
    projection = make_projection("online", 64)
    # Rows of the second rank that would have another mean.
    projection.tensors["weight"][32:] *= 16
    x = make_input(device)
    for rank in (0, 1):
        tensor_parallel(rank, 2)
        layer = column(make_config("online"), 96, 64)
        projection.load(layer)
        assert_same(finish(layer)(x), projection.transformers(x).chunk(2, dim=-1)[rank])
