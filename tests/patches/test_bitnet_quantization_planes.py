# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The planes of a packed weight are read as Transformers packs them, whatever the rows."""

import pytest

pytest.importorskip("vllm")

import torch
from bitnet_layers import make_config, pack_planes
from ternary_layers import assert_product, column, finish, load, random_codes, random_input
from transformers.integrations.bitnet import pack_weights


@pytest.mark.parametrize("rows", [*range(1, 14), 30, 64])
@pytest.mark.parametrize("columns", [64, 30])
def test_any_number_of_rows(device: str, rows: int, columns: int) -> None:
    codes = random_codes(rows, columns, seed=rows)
    layer = column(make_config("autobitlinear", activation="a16"), columns, rows)
    load(layer, "weight", pack_weights(codes.clone()))
    load(layer, "weight_scale", torch.ones(1, device="cpu"))
    x = random_input(3, columns)

    assert_product(finish(layer)(x), x, codes.double())


@pytest.mark.parametrize("rows", [5, 9, 64])
def test_packer_of_the_tests_is_that_of_transformers(rows: int) -> None:
    codes = random_codes(rows, 8)
    assert torch.equal(pack_planes(codes), pack_weights(codes.clone()))


def test_padding_is_not_looked_at(device: str) -> None:
    codes = random_codes(6, 64)
    packed = pack_planes(codes)
    packed |= 0b11000000
    layer = column(make_config("autobitlinear", activation="a16"), 64, 6)
    load(layer, "weight", packed)
    load(layer, "weight_scale", torch.ones(1, device="cpu"))
    x = random_input(3, 64)

    assert_product(finish(layer)(x), x, codes.double())
