# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The ways that bench/dispatch.py times: what ships, and what else could stand in its place."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from dispatch_table import FAR_SIDE, LARGE, PIECES, SHIPS, TOKENS, UNPACK, pieces
from kernel_series import Layer, Problem, build, ternary_copies
from kernel_table import GROUP
from nvrtc import Kernels

SOURCE = Path(__file__).parent / "kernels" / "unpack.cu"
WARPS = 8  # of a block, a unit each
UNIT_ROWS, UNIT_COLUMNS = 16, 128


@dataclass(frozen=True)
class Way:
    """One way to compute the product."""

    name: str
    tokens: Sequence[int]  # numbers of tokens at which it is timed
    layers: list[Callable[[Any], Any]]  # functions of x bf16 [M, K], each over its own weights
    # The result bf16 [M, N], to be checked, of x and of what a layer returns, where that is other.
    finish: Callable[[Any, Any], Any] | None = None


def ways(problem: Problem) -> list[Way]:
    """The ways for one problem. Raises Absent."""
    layers = build(problem)
    found = [
        Way(SHIPS, TOKENS, layers),
        Way(PIECES, FAR_SIDE, [in_pieces(layer) for layer in layers], lambda _, y: torch.cat(y)),
    ]
    if problem.series.activation == "a16":
        return found + unpack_bf16(problem)
    # Sums over all of K cannot take the scales of groups.
    return found + (unpack_int8(problem) if problem.series.scale == "channel" else [])


def in_pieces(layer: Layer) -> Callable[[torch.Tensor], list[torch.Tensor]]:
    """Calls of the operator with as many tokens as decode takes; the results are not joined."""
    return lambda x: [layer(part) for part in x.split(pieces(x.shape[0]))]


def unpack_bf16(problem: Problem) -> list[Way]:
    """The weights in bf16, scales multiplied in, then torch.mm through either cuBLAS library."""
    n, k = problem.codes.shape
    scratch = torch.empty((n, k), dtype=torch.bfloat16, device="cuda")
    step = 0 if problem.scale.shape[0] == 1 else n
    assert step == 0 or k // problem.scale.shape[0] == GROUP == UNIT_COLUMNS

    def unpack(packed: torch.Tensor, scale: torch.Tensor) -> Layer:
        def call(x: torch.Tensor) -> torch.Tensor:
            launch("unpack_bf16", n, k, packed, scale, scratch, n, k // UNIT_COLUMNS, step)
            return x

        return call

    def product(unpacked: Layer, library: str) -> Layer:
        def call(x: torch.Tensor) -> torch.Tensor:
            torch.backends.cuda.preferred_blas_library(library)
            return torch.mm(unpacked(x), scratch.t())

        return call

    alone = [unpack(*copy) for copy in ternary_copies(problem)]
    return [
        Way(UNPACK, [0], alone),
        *(
            Way(f"{UNPACK}_{library}", LARGE, [product(layer, library) for layer in alone])
            for library in ("cublas", "cublaslt")
        ),
    ]


def unpack_int8(problem: Problem) -> list[Way]:
    """The codes as int8 and vLLM's quantization of the activations, then either of two products.

    vLLM's CUTLASS product scales as it stores. cuBLASLt's leaves int32 sums, which are scaled for
    the check alone: that would take one more kernel.
    """
    from vllm import _custom_ops as ops

    n, k = problem.codes.shape
    scratch = torch.empty((n, k), dtype=torch.int8, device="cuda")
    scale = problem.scale.float()

    def unpack(packed: torch.Tensor) -> Layer:
        def call(x: torch.Tensor) -> torch.Tensor:
            launch("unpack_int8", n, k, packed, scratch, n, k // UNIT_COLUMNS)
            return x

        return call

    def cutlass(q: torch.Tensor, step: torch.Tensor) -> torch.Tensor:
        return ops.cutlass_scaled_mm(q, scratch.t(), step, scale.t(), torch.bfloat16)

    def cublaslt(q: torch.Tensor, step: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch._int_mm(q, scratch.t()), step

    def finish(_: torch.Tensor, sums_and_step: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        sums, step = sums_and_step
        return (sums.float() * step * scale).bfloat16()

    def product(unpacked: Layer, multiply: Callable[[torch.Tensor, torch.Tensor], Any]) -> Any:
        def call(x: torch.Tensor) -> Any:
            q, step, _ = ops.scaled_int8_quant(unpacked(x))
            return multiply(q, step)

        return call

    alone = [unpack(packed) for packed, _ in ternary_copies(problem)]
    return [
        Way(UNPACK, [0], alone),
        Way(f"{UNPACK}_cutlass", LARGE, [product(layer, cutlass) for layer in alone]),
        Way(f"{UNPACK}_cublaslt", LARGE, [product(layer, cublaslt) for layer in alone], finish),
    ]


@cache
def unpack_kernels() -> Kernels:
    """The benchmark's own CUDA source, compiled once."""
    return Kernels(SOURCE.read_text())


def launch(name: str, n: int, k: int, *arguments: torch.Tensor | int) -> None:
    """Runs a kernel of unpack.cu over weights [N, K]."""
    blocks = -(-(n // UNIT_ROWS) * (k // UNIT_COLUMNS) // WARPS)
    unpack_kernels().launch(name, (blocks, 1), (WARPS * 32, 1), *arguments)
