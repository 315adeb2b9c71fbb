# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""GGUF blocks decode to what the gguf package makes of them, whatever their bytes."""

import pytest

pytest.importorskip("vllm")
pytest.importorskip("gguf")

import gguf
import numpy as np
import torch
from gguf_models import q2_0
from ternary_directories import generator
from vllm.ternary import gguf_file


def random_blocks(kind: str, rows: int = 64, blocks: int = 3) -> torch.Tensor:
    """Random bytes, with scales that are finite numbers."""
    size = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[kind]][1]
    data = torch.randint(0, 256, (rows, blocks, size), generator=generator()).to(torch.uint8)
    halves = {"TQ1_0": [52], "TQ2_0": [64], "Q8_0": [0], "Q4_K": [0, 2], "Q6_K": [208]}
    for place in halves[kind]:
        scale = torch.randn(rows, blocks, 1, generator=generator(1)).half()
        data[..., place : place + 2] = scale.view(torch.uint8)
    return data


@pytest.mark.parametrize("kind", ["TQ1_0", "TQ2_0"])
def test_ternary_blocks(kind: str) -> None:
    data = random_blocks(kind)
    codes, scales = gguf_file.decode_ternary(kind, data)
    values = (codes.unflatten(1, (3, 256)).float() * scales.float().unsqueeze(-1)).flatten(1)
    expected = gguf.dequantize(data.flatten(1).numpy(), gguf.GGMLQuantizationType[kind])
    assert np.array_equal(values.numpy(), expected)


@pytest.mark.parametrize("kind", ["TQ1_0", "TQ2_0"])
def test_what_the_package_quantizes(kind: str) -> None:
    codes = torch.randint(-1, 2, (8, 512), generator=generator())
    data = gguf.quantize(codes.float().numpy() * 0.375, gguf.GGMLQuantizationType[kind])
    block = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[kind]][1]
    found, scales = gguf_file.decode_ternary(kind, torch.tensor(data).unflatten(1, (-1, block)))
    assert torch.equal(found, codes.to(torch.int8))
    assert torch.equal(scales, torch.full((8, 2), 0.375).half())


@pytest.mark.parametrize("kind", ["Q8_0", "Q4_K", "Q6_K"])
def test_other_blocks(kind: str) -> None:
    data = random_blocks(kind)
    values = gguf_file.decode_float(kind, data)
    expected = gguf.dequantize(data.flatten(1).numpy(), gguf.GGMLQuantizationType[kind])
    assert np.array_equal(values.numpy(), expected)


@pytest.mark.parametrize("group", [64, 128])
def test_q2_0(group: int) -> None:
    codes = torch.randint(-1, 2, (8, 256), generator=generator())
    scales = torch.rand(8, 256 // group, generator=generator()).half()
    weight = codes.unflatten(1, (-1, group)) * scales.float().unsqueeze(-1)
    data = torch.tensor(q2_0(weight.flatten(1).numpy(), group))
    blocks = data.unflatten(1, (-1, 2 + group // 4))
    found, found_scales = gguf_file.decode_ternary("Q2_0", blocks)
    assert torch.equal(found, codes.to(torch.int8))
    assert torch.equal(found_scales, scales)
