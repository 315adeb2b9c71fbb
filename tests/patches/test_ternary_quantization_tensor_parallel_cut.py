# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A tensor-parallel cut through a group or a packed byte is refused, naming layer and sizes."""

import pytest

pytest.importorskip("vllm")

from ternary_layers import TensorParallel, column, make_config, row


def refusal(error: pytest.ExceptionInfo[ValueError]) -> str:
    message = str(error.value)
    assert "\n" not in message
    return message


def test_cut_through_a_group(device: str, tensor_parallel: TensorParallel) -> None:
    tensor_parallel(0, 2)
    with pytest.raises(ValueError) as error:
        row(make_config(group_size=128), 384, 16)
    message = refusal(error)
    assert message.startswith("model.layers.0.mlp.down_proj: ")
    for part in ("size 2", "384", "192", "128"):
        assert part in message


def test_cut_through_a_packed_byte(device: str, tensor_parallel: TensorParallel) -> None:
    tensor_parallel(0, 2)
    with pytest.raises(ValueError) as error:
        row(make_config(group_size=-1, format="packed"), 36, 16)
    message = refusal(error)
    assert message.startswith("model.layers.0.mlp.down_proj: ")
    for part in ("size 2", "36", "18", "packed bytes of 4"):
        assert part in message


def test_cut_of_the_output_channels_is_free(device: str, tensor_parallel: TensorParallel) -> None:
    tensor_parallel(0, 2)
    layer = column(make_config(group_size=128, format="packed"), 384, 6)
    assert layer.weight_packed.shape == (3, 96)
