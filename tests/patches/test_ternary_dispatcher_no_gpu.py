# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Tensors on a CPU meet an error that says which GPUs the build has kernels for."""

import re

import pytest
import torch
from ternary_ops import OPS


def test_compiled_architectures() -> None:
    assert re.fullmatch(r"\d+\.\d[af]?(\+PTX)?( \d+\.\d[af]?(\+PTX)?)*", OPS.compiled_archs())


@pytest.mark.parametrize("op", ["ternary_gemm", "ternary_gemm_naive"])
def test_product_on_the_cpu(op: str) -> None:
    x = torch.zeros(3, 128, dtype=torch.bfloat16)
    weight = torch.zeros(1, 128, dtype=torch.int32)
    message = f"{op}: x is not on a CUDA device; .*{re.escape(OPS.compiled_archs())}"
    with pytest.raises(RuntimeError, match=message):
        getattr(OPS, op)(x, weight, torch.ones(1, 16), None, 16, 128, -1, False)


def test_pack_on_the_cpu() -> None:
    message = f"weight is not on a CUDA device; .*{re.escape(OPS.compiled_archs())}"
    with pytest.raises(RuntimeError, match=message):
        OPS.ternary_pack(torch.zeros(4, 8, dtype=torch.int8))
