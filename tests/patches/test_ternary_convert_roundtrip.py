# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Packings of any shape hold what was put in, in the bytes that their descriptions say."""

from pathlib import Path

import pytest

pytest.importorskip("vllm")
pytest.importorskip("hypothesis")

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load, save_file
from ternary_directories import pack, random_codes
from transformers.integrations.bitnet import pack_weights, unpack_weights
from vllm.ternary import packing
from vllm.ternary.safetensors_io import Reader, make_header, read_header, tensor_bytes

SIZES = st.tuples(st.integers(1, 70), st.integers(1, 70))
SEEDS = st.integers(0, 1000)


@given(SIZES, SEEDS)
@settings(max_examples=60, deadline=None)
def test_packed_rows(size: tuple[int, int], seed: int) -> None:
    codes = random_codes(*size, seed)
    packed = packing.pack(codes)
    assert torch.equal(packed, pack(codes))
    assert torch.equal(packing.unpack(packed, size[1]), codes)


@given(SIZES, SEEDS)
@settings(max_examples=60, deadline=None)
def test_planes(size: tuple[int, int], seed: int) -> None:
    codes = random_codes(4 * size[0], size[1], seed)
    packed = packing.pack_planes(codes)
    assert torch.equal(packed, pack_weights(codes.clone()))
    planes = torch.cat([packing.unpack_plane(packed, plane) for plane in range(4)])
    assert torch.equal(planes, codes)
    with torch.compiler.set_stance("force_eager"):
        assert torch.equal(unpack_weights(packed, torch.int8), codes)


@given(st.lists(SIZES, min_size=1, max_size=5), st.sampled_from([torch.int8, torch.bfloat16]))
@settings(max_examples=30, deadline=None)
def test_safetensors(sizes: list[tuple[int, int]], dtype: torch.dtype) -> None:
    tensors = {f"t{i}": random_codes(*size, i).to(dtype) for i, size in enumerate(sizes)}
    name = {torch.int8: "I8", torch.bfloat16: "BF16"}[dtype]
    header = make_header(
        [(key, name, tuple(one.shape), one.nbytes) for key, one in tensors.items()]
    )
    data = header + b"".join(bytes(tensor_bytes(one)) for one in tensors.values())
    loaded = load(data)
    assert loaded.keys() == tensors.keys()
    for key, one in tensors.items():
        assert torch.equal(loaded[key], one)


@given(start=st.integers(0, 20), stop=st.integers(0, 20))
@settings(max_examples=20, deadline=None)
def test_rows_of_a_file(rows_file: Path, start: int, stop: int) -> None:
    start, stop = sorted((start, stop))
    info = read_header(rows_file)["b"]
    reader = Reader()
    expected = torch.arange(60, dtype=torch.float32).reshape(20, 3)[start:stop]
    assert torch.equal(reader.rows(info, start, stop), expected)
    reader.close()


@pytest.fixture(scope="module")
def rows_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rows") / "model.safetensors"
    values = torch.arange(60, dtype=torch.float32).reshape(20, 3)
    save_file({"a": torch.ones(7, dtype=torch.uint8), "b": values}, path)
    return path
