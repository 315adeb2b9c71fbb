# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The kernels that bench/kernels.py times: the same random weights for each, as each wants them.

Every builder takes a Problem and returns layers: functions of x bf16 [M, K] that return
bf16 [M, N], each over a copy of the weights of its own. Absent is raised for what cannot be run.
"""

import json
import math
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

import torch
from kernel_table import GROUP, Series, Shape
from nvrtc import Kernels

Layer = Callable[[torch.Tensor], torch.Tensor]
STAGES = Path(__file__).parent / "kernels" / "stages.cu"
CHECKED_OUTPUTS = 2048  # of each token; all of them would take gigabytes in float64
MAX_COPIES = 48
# Of the whole result: bf16 rounds to 0.2 %, int8 activations to about 1 %.
TOLERANCE = {"a16": 0.005, "int8": 0.025}


class Absent(Exception):
    """A kernel that is not there, or does not take the problem; the text says why."""


@dataclass
class Problem:
    """Weights on the GPU: w = scale * code."""

    series: Series
    codes: torch.Tensor  # int8 [N, K] of -1, 0, 1; humming_w2a16 and w2a8 have one -2
    scale: torch.Tensor  # bf16 [G, N]; G = 1 unless the series has group scales of its own
    tokens: Sequence[int]  # M of the activations that the layers will be given

    @property
    def copies(self) -> int:
        """How many copies of the weights exceed the L2 cache twice."""
        l2 = torch.cuda.get_device_properties(0).L2_cache_size
        size = self.codes.numel() * self.series.bits / 8
        return min(MAX_COPIES, math.ceil(2 * l2 / size) + 1)

    def error(self, x: torch.Tensor, y: torch.Tensor) -> float:
        """|y - exact| / |exact| over a sample of outputs that has the first and the last."""
        n = self.codes.shape[0]
        rows = torch.linspace(0, n - 1, min(n, CHECKED_OUTPUTS), device="cuda").long()
        groups = self.scale.shape[0]
        scale = self.scale.t()[rows].double().repeat_interleave(self.codes.shape[1] // groups, 1)
        exact = x.double() @ (self.codes[rows].double() * scale).t()
        return float((y[:, rows].double() - exact).norm() / exact.norm())


@lru_cache(maxsize=1)  # shared by all series of a shape, and kept until another one's are made
def random_codes(n: int, k: int) -> torch.Tensor:
    """int8 [N, K] of -1, 0, 1."""
    g = torch.Generator(device="cuda").manual_seed(0)
    return torch.randint(-1, 2, (n, k), generator=g, device="cuda", dtype=torch.int8)


def make_problem(series: Series, n: int, k: int, tokens: Sequence[int]) -> Problem:
    """Random weights; the same for every series but in its kind of scales."""
    g = torch.Generator(device="cuda").manual_seed(1)
    codes = random_codes(n, k)
    own_groups = series.kernel == "ternary" and series.scale == "group128"
    scale = torch.rand((k // GROUP if own_groups else 1, n), generator=g, device="cuda") + 0.5
    if series.scale == "tensor":
        scale.fill_(0.5)  # Humming takes the reciprocal, which is to be exact
    if series.kernel in ("humming_w2a16", "humming_w2a8"):
        # Without a code -2 Humming turns int2 into the format that humming_bitnet measures.
        codes = codes.clone()
        codes[0, 0] = -2
    return Problem(series, codes, scale.bfloat16(), tokens)


def build(problem: Problem) -> list[Layer]:
    """The layers of a series. Raises Absent."""
    kernel = problem.series.kernel
    try:
        return BUILDERS[kernel](problem)
    except ImportError as fault:
        raise Absent(str(fault)) from fault


def ternary_copies(problem: Problem) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Packed codes and scales [G, N], as the kernels of this project's wheel take them."""
    from vllm import _custom_ops as ops

    if not hasattr(ops, "ternary_gemm"):
        raise Absent("the installed vLLM has no ternary_gemm: not this project's wheel")
    packed = ops.ternary_pack(problem.codes)
    return [(packed.clone(), problem.scale.clone()) for _ in range(problem.copies)]


def ternary(problem: Problem) -> list[Layer]:
    """The kernels of this project's wheel."""
    from vllm import _custom_ops as ops

    copies = ternary_copies(problem)
    n, k = problem.codes.shape
    groups = problem.scale.shape[0]
    size = -1 if groups == 1 else k // groups
    int8 = problem.series.activation == "int8"

    def layer(packed: torch.Tensor, scale: torch.Tensor) -> Layer:
        return lambda x: ops.ternary_gemm(x, packed, scale, None, n, k, size, int8)

    return [layer(*copy) for copy in copies]


def cublas(problem: Problem) -> list[Layer]:
    """torch.mm on the weights in bf16."""
    weight = problem.codes.bfloat16() * problem.scale.t()

    def layer(w: torch.Tensor) -> Layer:
        return lambda x: torch.mm(x, w.t())

    return [layer(weight.clone()) for _ in range(problem.copies)]


def marlin(problem: Problem) -> list[Layer]:
    """vLLM's Marlin: int4 codes, symmetric, group 128, as in most GPTQ checkpoints."""
    from marlin_layer import MarlinLayer, Weights
    from vllm.v1.worker import workspace

    # As in the server: without it each call would allocate and clear the kernel's locks.
    if not workspace.is_workspace_manager_initialized():
        workspace.init_workspace_manager(problem.codes.device)
    act = torch.int8 if problem.series.activation == "int8" else torch.bfloat16
    k = problem.codes.shape[1]
    scales = problem.scale.t().repeat(1, k // GROUP).contiguous()
    weights = Weights(problem.codes.int() + 8, scales)
    return [MarlinLayer(weights, act) for _ in range(problem.copies)]


def humming(problem: Problem) -> list[Layer]:
    """Humming: int2 with 16-bit or int8 activations, or the schema of BitNet checkpoints."""

    def layer(made: Any) -> Layer:
        # What it chooses itself, without the kernels for other numbers of tokens: it compiles each.
        tuning = json.dumps(humming_choices(made, problem.tokens))
        return lambda x: made(x, tuning_config=tuning)

    return [layer(made) for made in humming_layers(problem, problem.copies)]


def humming_layers(problem: Problem, copies: int) -> Iterator[Any]:
    """Humming's own layers over the weights of the problem."""
    from humming import ops
    from humming.layer import HummingLayer

    n, k = problem.codes.shape
    if problem.series.kernel == "humming_bitnet":
        config = {"quant_method": "bitnet"}
        # Four outputs a byte, little end first.
        fields = (problem.codes.view(n // 4, 4, k) + 1).to(torch.uint8)
        shifts = torch.arange(0, 8, 2, device="cuda", dtype=torch.uint8)[:, None]
        weight = (fields << shifts).sum(1, dtype=torch.uint8)
        scale = problem.scale[0, :1].reciprocal()
    else:
        config = {"dtype": "int2"}
        weight = ops.pack_weight(problem.codes.int() + 2, 2)
        scale = problem.scale.t().contiguous()
    inputs = {"dtype": "int8"} if problem.series.activation == "int8" else None
    for _ in range(copies):
        made = HummingLayer(
            shape_n=n,
            shape_k=k,
            weight_config=dict(config),
            input_config=inputs and dict(inputs),
            torch_dtype=torch.bfloat16,
        ).cuda()
        made.load_from_tensors({"weight": weight, "weight_scale": scale})
        made.transform()
        yield made


def humming_choices(layer: Any, tokens: Sequence[int]) -> list[Any]:
    """Its kernels for these numbers of tokens: above, up to, and how the kernel is built."""
    from humming.tune import get_heuristics_config

    choices = get_heuristics_config(layer.humming_config)
    return [c for c in choices if any(c[0] < m <= c[1] for m in tokens)]


def compile_humming(
    series: Sequence[Series], shapes: Sequence[Shape], tokens: Sequence[int]
) -> int:
    """Compiles Humming's kernels side by side on all processors; returns how many.

    Humming would compile them at their first use, shape after shape. Its cache on disk keeps them.
    What fails here fails again, and is reported, when it is measured.
    """
    builds: list[Callable[[], object]] = []
    for one in series:
        for n, k in shapes if one.kernel.startswith("humming") else ():
            try:
                builds += humming_builds(make_problem(one, n, k, tokens))
            except Exception:
                continue
    torch.cuda.empty_cache()
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for future in [pool.submit(build) for build in builds]:
            future.exception()
    return len(builds)


def humming_builds(problem: Problem) -> list[Callable[[], object]]:
    """Calls that compile the kernels of one problem, each another; those that quantize are one."""
    from humming.forward import may_quant_input
    from humming.kernel.humming import HummingKernel

    layer = next(humming_layers(problem, 1))
    config = layer.humming_config
    builds: list[Callable[[], object]] = [
        partial(HummingKernel.prepare_kernels, config.to_str(), None, json.dumps([choice]))
        for choice in humming_choices(layer, problem.tokens)
    ]
    if problem.series.activation == "int8":
        x = torch.zeros((1, problem.codes.shape[1]), device="cuda", dtype=torch.bfloat16)
        builds.append(partial(may_quant_input, config, x))
    return builds


@cache
def stage_kernels() -> Kernels:
    """The benchmark's own CUDA source, compiled once."""
    return Kernels(STAGES.read_text())


def stage(problem: Problem) -> list[Layer]:
    """One of the textbook stages, on weights of a byte each."""
    kernels = stage_kernels()
    name = problem.series.kernel
    n, k = problem.codes.shape
    scale = problem.scale[0].float()

    def layer(codes: torch.Tensor) -> Layer:
        def call(x: torch.Tensor) -> torch.Tensor:
            m = x.shape[0]
            y = x.new_empty((m, n))
            if name == "tiled":
                grid = (n // 32, -(-m // 32))
                kernels.launch(name, grid, (32, 32), x, codes, scale, y, m, n, k)
            else:
                grid = (-(-n // 256) if name == "naive" else n // 64, m)
                kernels.launch(name, grid, (256, 1), x, codes, scale, y, n, k)
            return y

        return call

    return [layer(problem.codes.clone()) for _ in range(problem.copies)]


BUILDERS: dict[str, Callable[[Problem], list[Layer]]] = {
    "ternary": ternary,
    "cublas_bf16": cublas,
    "marlin_w4a16": marlin,
    "marlin_w4a8": marlin,
    "humming_w2a16": humming,
    "humming_w2a8": humming,
    "humming_bitnet": humming,
    "naive": stage,
    "tiled": stage,
    "lut": stage,
}
