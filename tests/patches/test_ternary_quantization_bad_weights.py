# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Weights that are not ternary are refused by one line naming layer, place and value."""

from typing import Any

import pytest

pytest.importorskip("vllm")

import torch
from ternary_layers import (
    TensorParallel,
    column,
    finish,
    gate_up,
    load,
    make_config,
    pack,
    qkv,
    random_codes,
)

SIZE_K, SIZE_N = 64, 16


def one_line(error: pytest.ExceptionInfo[ValueError]) -> str:
    message = str(error.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("value", [2, -2, 127, -128])
def test_value_out_of_range(device: str, value: int) -> None:
    codes = random_codes(SIZE_N, SIZE_K)
    codes[5, 9] = value
    layer = column(make_config(), SIZE_K, SIZE_N)
    load(layer, "weight", codes)
    with pytest.raises(ValueError) as error:
        finish(layer)
    assert one_line(error).startswith(
        f"model.layers.0.mlp.up_proj.weight holds {value} at row 5, column 9;"
    )


def test_value_in_a_part_of_a_fused_layer(device: str) -> None:
    layer = qkv(make_config(), SIZE_K, heads=4, kv_heads=2)
    for shard, rows in {"q": 64, "k": 32, "v": 32}.items():
        codes = random_codes(rows, SIZE_K)
        if shard == "k":
            codes[31, 0] = 3
        load(layer, "weight", codes, shard)
    with pytest.raises(ValueError) as error:
        finish(layer)
    assert one_line(error).startswith(
        "model.layers.0.self_attn.k_proj.weight holds 3 at row 31, column 0;"
    )


def test_value_on_another_rank(device: str, tensor_parallel: TensorParallel) -> None:
    tensor_parallel(1, 2)
    codes = random_codes(SIZE_N, SIZE_K)
    codes[10, 2] = 9
    layer = column(make_config(), SIZE_K, SIZE_N)
    load(layer, "weight", codes)
    with pytest.raises(ValueError) as error:
        finish(layer)
    assert "holds 9 at row 2, column 2 of the part of tensor parallel rank 1;" in one_line(error)


@pytest.mark.parametrize("column_of_code", [8, 9, 10, 11])
def test_packed_code_3(device: str, column_of_code: int) -> None:
    packed = pack(random_codes(SIZE_N, SIZE_K))
    packed[5, 2] |= 3 << 2 * (column_of_code % 4)
    layer = column(make_config(format="packed"), SIZE_K, SIZE_N)
    load(layer, "weight_packed", packed)
    with pytest.raises(ValueError) as error:
        finish(layer)
    assert one_line(error).startswith(
        f"model.layers.0.mlp.up_proj.weight_packed holds code 3 at row 5, column {column_of_code};"
    )


@pytest.mark.parametrize(
    ("format_name", "tensor", "fault"),
    [
        ("int8", torch.zeros(SIZE_N, SIZE_K), "weight is torch.float32 in the checkpoint"),
        ("int8", torch.zeros(SIZE_N, SIZE_K, dtype=torch.uint8), "weight is torch.uint8"),
        (
            "packed",
            torch.zeros(SIZE_N, SIZE_K // 4, dtype=torch.int8),
            "weight_packed is torch.int8",
        ),
        ("int8", torch.zeros(SIZE_N, 32, dtype=torch.int8), "weight has shape [16, 32]"),
        (
            "packed",
            torch.zeros(SIZE_N, SIZE_K, dtype=torch.uint8),
            "weight_packed has shape [16, 64]",
        ),
        ("int8", torch.zeros(8, SIZE_K, dtype=torch.int8), "a tensor of shape [8, 64]"),
    ],
)
def test_tensor_of_another_type_or_shape(
    device: str, format_name: str, tensor: torch.Tensor, fault: str
) -> None:
    layer = column(make_config(format=format_name), SIZE_K, SIZE_N)
    with pytest.raises(ValueError) as error:
        load(layer, layer.quant_method.weight_name, tensor)
    message = one_line(error)
    assert message.startswith("model.layers.0.mlp.up_proj")
    assert fault in message


@pytest.mark.parametrize(
    ("format_name", "found"), [("int8", "weight_packed"), ("packed", "weight")]
)
def test_tensor_of_the_other_format(device: str, format_name: str, found: str) -> None:
    layer = gate_up(make_config(format=format_name), SIZE_K, SIZE_N)
    with pytest.raises(ValueError) as error:
        load(layer, found, torch.zeros(SIZE_N, SIZE_K), 1)
    assert one_line(error) == (
        f"model.layers.0.mlp.up_proj.{found} is in the checkpoint, but quantization_config has "
        f"format '{format_name}'."
    )


def load_all_but(layer: Any, missing: int, packed: bool) -> None:
    for shard in {0, 1} - {missing}:
        codes = random_codes(SIZE_N, SIZE_K)
        load(layer, layer.quant_method.weight_name, pack(codes) if packed else codes, shard)


@pytest.mark.parametrize(("missing", "name"), [(0, "gate_proj"), (1, "up_proj")])
@pytest.mark.parametrize("packed", [False, True], ids=["int8", "packed"])
def test_missing_weight(device: str, missing: int, name: str, packed: bool) -> None:
    layer = gate_up(make_config(format="packed" if packed else "int8"), SIZE_K, SIZE_N)
    load_all_but(layer, missing, packed)
    with pytest.raises(ValueError) as error:
        finish(layer)
    tensor = "weight_packed" if packed else "weight"
    assert one_line(error) == (
        f"model.layers.0.mlp.{name}.{tensor} is missing from the checkpoint."
    )
