# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Programmatic dependent launch in inductor's kernels goes with the ternary ones.

Ours let the next kernel start before they have waited themselves, so the next one must touch no
memory before its own wait. Inductor's waits late for what the kernel before it does not write, but
only where that is one of inductor's as well. Its code is looked at; it needs no GPU for that.
"""

import re
from collections.abc import Callable
from types import SimpleNamespace

import pytest

pytest.importorskip("vllm")
pytest.importorskip("vllm._ternary_C")

import torch
from ternary_layers import column, make_config
from torch._inductor import config as inductor_config
from torch._inductor import scheduler
from torch._inductor.debug import DebugContext
from torch._inductor.decomposition import select_decomp_table
from torch._inductor.graph import GraphLowering
from torch._inductor.runtime.hints import DeviceProperties
from torch._inductor.virtualized import V
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _triton
from vllm import _custom_ops as ops
from vllm.model_executor.layers.quantization import get_quantization_config, ternary

SIZE = 256
Tensors = tuple[torch.Tensor, ...]


@pytest.fixture
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    """What inductor asks of a GPU and of Triton to generate code."""
    properties = {
        "major": 9,
        "multi_processor_count": 132,
        "regs_per_multiprocessor": 65536,
        "max_threads_per_multi_processor": 2048,
        "warp_size": 32,
    }
    answers = {
        "is_available": True,
        "device_count": 1,
        "current_device": 0,
        "get_device_capability": (9, 0),
        "get_device_properties": SimpleNamespace(name="", gcnArchName="", **properties),
        "_lazy_init": None,
    }
    for name, answer in answers.items():
        monkeypatch.setattr(torch.cuda, name, lambda *_, answer=answer: answer)
    device = DeviceProperties(type="cuda", index=0, cc=90, **properties)
    monkeypatch.setattr(DeviceProperties, "create", lambda _: device)
    monkeypatch.setattr(scheduler, "has_triton", lambda: True)
    monkeypatch.setattr(_triton, "triton_hash_with_backend", lambda: "")


def generated(function: Callable[..., Tensors]) -> list[list[str]]:
    """Waits, launches and accesses to memory of each kernel that inductor makes, in order."""
    with FakeTensorMode() as fake, torch.device("cuda"):
        x, residual = torch.empty(2, 8, SIZE, dtype=torch.bfloat16).unbind()
        weight = torch.empty(SIZE // 16, SIZE, dtype=torch.int32)
        inputs = (x, residual, weight, torch.empty(1, SIZE))
    traced = make_fx(function, select_decomp_table(), "fake")(*inputs)
    with fake, V.set_fake_mode(fake), V.set_debug_handler(DebugContext()):
        graph = GraphLowering(traced, example_inputs=inputs)
        with V.set_graph_handler(graph), inductor_config.patch({"triton.enable_pdl": True}):
            graph.run(*inputs)
            code = graph.codegen()[0].value
    kernels = re.findall(r"^def triton_.*?^'''", code, re.MULTILINE | re.DOTALL)
    steps = r"gdc_wait|gdc_launch|tl\.load|tl\.store|tl\.atomic"
    return [re.findall(steps, kernel) for kernel in kernels]


def product(
    x: torch.Tensor,
    weight: torch.Tensor,
    scale: torch.Tensor,
    bias: torch.Tensor | None = None,
) -> torch.Tensor:
    return ops.ternary_gemm(x, weight, scale, bias, SIZE, SIZE, -1, False)


def adds_to(x: torch.Tensor, residual: torch.Tensor, *weight: torch.Tensor) -> Tensors:
    total = residual + product(x, *weight)
    return total, total.float().pow(2).mean(-1)


def leaves_alone(x: torch.Tensor, residual: torch.Tensor, *weight: torch.Tensor) -> Tensors:
    return product(x, *weight), residual.float().cos()


def comes_later(x: torch.Tensor, residual: torch.Tensor, *_: torch.Tensor) -> Tensors:
    return (residual.float().sin() * x.float().sum(0).cumsum(0),)


def fills_before(x: torch.Tensor, residual: torch.Tensor, *weight: torch.Tensor) -> Tensors:
    bias = torch.full((SIZE,), 3.0, dtype=x.dtype, device=x.device)
    return (product(x.float().cumsum(0).bfloat16(), *weight, bias),)


@pytest.mark.parametrize("function", [adds_to, leaves_alone])
def test_waits_first_behind_a_product(hopper: None, function: Callable[..., Tensors]) -> None:
    first = generated(function)[0]

    assert first[0] == "gdc_wait"
    assert {"tl.load", "tl.store", "gdc_launch"} <= set(first)


def test_reads_first_behind_its_own(hopper: None) -> None:
    """So the other test tells the difference."""
    last = generated(comes_later)[-1]

    assert last.index("tl.load") < last.index("gdc_wait") < last.index("gdc_launch")


def test_a_fill_does_not_wait(hopper: None) -> None:
    """The hole that docs/kernels.md warns of."""
    behind_its_own = generated(fills_before)[-1]

    assert behind_its_own == ["tl.store"]


def test_layer_is_made(
    monkeypatch: pytest.MonkeyPatch, tensor_parallel: Callable[[int, int], None]
) -> None:
    get_quantization_config("ternary")  # imports what would take a GPU for given
    monkeypatch.setattr(ternary.current_platform, "is_cuda", lambda: True)
    with inductor_config.patch({"triton.enable_pdl": True}):
        assert column(make_config(), 32, 64).quant_method.use_kernel
