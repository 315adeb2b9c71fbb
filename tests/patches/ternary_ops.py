# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The ternary operators under test, and the float64 reference they are held against.

The operators are those of the installed wheel. TERNARY_EXTENSION may name a compiled extension to
test instead, on a machine that has PyTorch but not the whole of vLLM.
"""

import os
from dataclasses import dataclass, replace

import pytest

pytest.importorskip("torch")

import torch

if "TERNARY_EXTENSION" in os.environ:
    torch.ops.load_library(os.environ["TERNARY_EXTENSION"])
else:
    pytest.importorskip("vllm")
    pytest.importorskip("vllm._ternary_C")

OPS = torch.ops._ternary_C
GPU = torch.cuda.is_available()
needs_gpu = pytest.mark.skipif(not GPU, reason="needs an NVIDIA GPU")

# Rounding to nearest is off by at most this fraction of the value.
ROUNDING = {torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}
# Units of 2**-24 of the sum of absolute terms that float32 accumulation may cost.
ACCUMULATION = 32.0

# N and K of the layers of real models.
LAYERS = [
    (17920, 1536),
    (1536, 8960),
    (28672, 4096),
    (4096, 14336),
    (34816, 5120),
    (5120, 17408),
    (57344, 8192),
    (8192, 28672),
]


@dataclass(frozen=True)
class Product:
    """One product: the arguments of the operator and the codes they were made from."""

    x: torch.Tensor
    codes: torch.Tensor
    scale: torch.Tensor
    bias: torch.Tensor | None
    group_size: int
    act_int8: bool

    @property
    def packed(self) -> torch.Tensor:
        return OPS.ternary_pack(self.codes)

    def run(self, packed: torch.Tensor | None = None, naive: bool = False) -> torch.Tensor:
        """The operator's result [M, N]."""
        size_n, size_k = self.codes.shape
        op = OPS.ternary_gemm_naive if naive else OPS.ternary_gemm
        weight = self.packed if packed is None else packed
        return op(
            self.x, weight, self.scale, self.bias, size_n, size_k, self.group_size, self.act_int8
        )

    def first(self, rows: int) -> "Product":
        """The same product for the first `rows` tokens."""
        return replace(self, x=self.x[:rows].contiguous())

    def tokens(self, rows: torch.Tensor) -> "Product":
        """The same product for these tokens."""
        return replace(self, x=self.x[rows])

    def outputs(self, columns: torch.Tensor) -> "Product":
        """These outputs of the same product."""
        bias = None if self.bias is None else self.bias[columns]
        return replace(
            self, codes=self.codes[columns], scale=self.scale[:, columns].contiguous(), bias=bias
        )


def make_product(
    m: int,
    n: int,
    k: int,
    dtype: torch.dtype = torch.bfloat16,
    group_size: int = -1,
    act_int8: bool = False,
    bias: bool = False,
    scale_dtype: torch.dtype = torch.float32,
) -> Product:
    """A product of fresh random tensors on the GPU."""
    groups = 1 if group_size == -1 else k // group_size
    return Product(
        x=torch.randn(m, k, device="cuda").to(dtype),
        codes=torch.randint(-1, 2, (n, k), device="cuda", dtype=torch.int8),
        scale=(torch.rand(groups, n, device="cuda") * 0.02 + 0.001).to(scale_dtype),
        bias=torch.randn(n, device="cuda").to(dtype) if bias else None,
        group_size=group_size,
        act_int8=act_int8,
    )


def reference(product: Product) -> tuple[torch.Tensor, torch.Tensor]:
    """The product in float64, and the sums of the absolute terms [M, N]."""
    k = product.codes.shape[1]
    groups = product.scale.shape[0]
    x = product.x.double()
    step = torch.ones(x.shape[0], 1, dtype=torch.float64, device=x.device)
    if product.act_int8:
        values = product.x.float()
        top = values.abs().amax(dim=1, keepdim=True).clamp(min=1e-5)
        x = torch.clamp(torch.round(torch.div(values * 127, top)), -128, 127).double()
        step = top.double() / 127
    results, sums = [], []
    # Slices of the outputs: whole layers would take gigabytes in float64.
    rows = max(1, 2**25 // k)
    for codes, scale in zip(product.codes.split(rows), product.scale.t().split(rows), strict=True):
        weight = codes.double().unflatten(1, (groups, k // groups)) * scale.double().unsqueeze(-1)
        weight = weight.flatten(1)
        results.append(x @ weight.t() * step)
        sums.append(x.abs() @ weight.abs().t() * step)
    result, terms = torch.cat(results, dim=1), torch.cat(sums, dim=1)
    if product.bias is not None:
        result = result + product.bias.double()
        terms = terms + product.bias.double().abs()
    return result, terms


def assert_agrees(result: torch.Tensor, expected: torch.Tensor, terms: torch.Tensor) -> None:
    """No further from `reference` than one rounding of the output and float32 accumulation."""
    assert result.shape == expected.shape
    allowed = (
        ROUNDING[result.dtype] * expected.abs() * (1 + 2.0**-10)
        + ACCUMULATION * 2.0**-24 * terms
        + 2.0**-25
    )
    over = (result.double() - expected).abs() - allowed
    # A NaN compares false, so it fails here as well.
    assert bool((over <= 0).all()), f"{list(over.shape)}: largest excess {over.max().item():.3g}"


def assert_exact(result: torch.Tensor, product: Product) -> None:
    """`assert_agrees` for all of a product."""
    assert result.dtype == product.x.dtype
    assert_agrees(result, *reference(product))
