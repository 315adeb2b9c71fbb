# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""On Hopper, both kernels of a symmetric layer give the same bits, compiled and in CUDA graphs."""

from typing import Any

import pytest

pytest.importorskip("vllm")

import torch
from marlin_emulation import checkpoint, kernel, load
from vllm.model_executor.layers.quantization.utils import marlin_utils
from vllm.platforms import current_platform
from vllm.scalar_type import scalar_types

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(
        not (torch.cuda.is_available() and current_platform.is_device_capability(90)),
        reason="needs a Hopper GPU",
    ),
]
SYMMETRIC, ZERO_POINT = scalar_types.uint4b8.id, scalar_types.uint4.id
N, K = 4096, 5120


class Layer:
    """A layer whose scales are all positive, and the kernel type of each of its calls."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, n: int = N, group_size: int = 128) -> None:
        self.types: list[int] = []
        gemm = torch.ops._C.marlin_gemm

        def spy(*args: Any) -> torch.Tensor:
            self.types.append(args[9])
            return gemm(*args)

        monkeypatch.setattr(torch.ops._C, "marlin_gemm", spy)
        c = checkpoint(n, K, K // group_size, device="cuda")
        self.layer, self.kernel = load(c), kernel(c, torch.int8)
        self.kernel.process_weights_after_loading(self.layer)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return self.kernel.apply_weights(self.layer, x)


def activations(tokens: int) -> torch.Tensor:
    g = torch.Generator("cuda").manual_seed(tokens)
    return torch.randn((tokens, K), generator=g, device="cuda").bfloat16()


@pytest.mark.parametrize("n", [N, 1000])
@pytest.mark.parametrize("group_size", [32, 128])
@pytest.mark.parametrize("tokens", [1, 63, 64, 300])
def test_same_bits(monkeypatch: pytest.MonkeyPatch, n: int, group_size: int, tokens: int) -> None:
    layer, x = Layer(monkeypatch, n, group_size), activations(tokens)
    monkeypatch.setattr(marlin_utils, "MARLIN_INT8_ZP_MIN_TOKENS", tokens + 1)
    symmetric = layer(x)
    monkeypatch.setattr(marlin_utils, "MARLIN_INT8_ZP_MIN_TOKENS", tokens)
    assert torch.equal(layer(x), symmetric)
    assert layer.types == [SYMMETRIC, ZERO_POINT]


def test_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    layer = Layer(monkeypatch)
    compiled = torch.compile(lambda x: layer.kernel.apply_weights(layer.layer, x), fullgraph=True)
    for tokens in (16, 80):
        x = activations(tokens)
        torch._dynamo.mark_dynamic(x, 0)  # the number of tokens alone, as in vLLM
        assert torch.equal(compiled(x), layer(x))
    assert layer.types == [SYMMETRIC, SYMMETRIC, ZERO_POINT, ZERO_POINT]


@pytest.mark.parametrize(("tokens", "kernel_type"), [(16, SYMMETRIC), (64, ZERO_POINT)])
def test_cuda_graph(monkeypatch: pytest.MonkeyPatch, tokens: int, kernel_type: int) -> None:
    layer, x = Layer(monkeypatch), activations(tokens)
    expected = layer(x)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        y = layer(x)
    y.zero_()
    graph.replay()
    assert torch.equal(y, expected)
    assert layer.types == [kernel_type, kernel_type]
