# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""int8 weights, with and without scales and configuration, and the packed format."""

from pathlib import Path

import pytest

pytest.importorskip("vllm")

import torch
from ternary_directories import (
    CONFIG,
    convert,
    dequantize,
    floats,
    pack,
    projections,
    random_codes,
    read_config,
    read_tensors,
    read_weight,
    scales,
    write_model,
)


@pytest.mark.parametrize("configured", [False, True])
@pytest.mark.parametrize("group_size", [None, 0, -1, 32])
def test_scales_tell_their_granularity(
    group_size: int | None, configured: bool, tmp_path: Path
) -> None:
    tensors, expected = floats(), {}
    for seed, (name, size) in enumerate(projections().items()):
        codes = random_codes(*size, seed)
        scale = None if group_size is None else scales(size, group_size, seed)
        tensors[f"{name}.weight"] = codes
        if scale is not None:
            tensors[f"{name}.weight_scale"] = scale
        expected[name] = dequantize(codes, scale)
    quantization = {"quant_method": "ternary", "group_size": group_size}
    source = write_model(
        tmp_path / "source", tensors, quantization=quantization if configured else None
    )
    assert convert(source, tmp_path / "result") == 0
    config = read_config(tmp_path / "result")["quantization_config"]
    assert config.get("group_size") == group_size
    result = read_tensors(tmp_path / "result")
    for name, size in projections().items():
        assert torch.equal(read_weight(result, name, size[1]), expected[name])
        assert (f"{name}.weight_scale" in result) is (group_size is not None)


def test_packed_rows_that_four_does_not_divide(tmp_path: Path) -> None:
    config = CONFIG | {"intermediate_size": 126, "hidden_size": 66}
    tensors, codes = floats(config), {}
    for seed, (name, size) in enumerate(projections(config).items()):
        codes[name] = random_codes(*size, seed)
        tensors[f"{name}.weight_packed"] = pack(codes[name])
    quantization = {"quant_method": "ternary", "format": "packed"}
    source = write_model(tmp_path / "source", tensors, config, quantization)
    assert convert(source, tmp_path / "result", "--format", "int8") == 0
    result = read_tensors(tmp_path / "result")
    for name in codes:
        assert torch.equal(result[f"{name}.weight"], codes[name])
