# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What is wrong with an expert in a checkpoint is said in one line that names the tensor."""

from typing import Any

import pytest

pytest.importorskip("vllm")

import torch
from ternary_layers import make_config
from ternary_moe_layers import PREFIX, experts, fill, make_weights, tensors_of
from vllm.model_executor.layers.fused_moe.activation import MoEActivation

NAME = "4.up_proj"


def refused(changed: dict[str, torch.Tensor | None], **quantization: Any) -> str:
    """Why a checkpoint with these tensors changed, or left out, is refused."""
    quantization = {"group_size": 32} | quantization
    packed = quantization.get("format") == "packed"
    tensors = tensors_of(make_weights(quantization["group_size"]), packed) | changed
    layer = experts(make_config(**quantization))
    with pytest.raises(ValueError) as error:
        fill(layer, {name: tensor for name, tensor in tensors.items() if tensor is not None})
    message = str(error.value)
    assert "\n" not in message
    return message


def original(kind: str, **options: Any) -> torch.Tensor:
    return tensors_of(make_weights(32), **options)[f"{NAME}.{kind}"].clone()


@pytest.mark.parametrize("value", [2, -2, 127, -128])
def test_value_out_of_range(device: str, value: int) -> None:
    weight = original("weight")
    weight[70, 9] = value
    assert refused({f"{NAME}.weight": weight}) == (
        f"{PREFIX}.{NAME}.weight holds {value} at row 70, column 9; ternary weights are -1, 0 or 1."
    )


def test_code_3(device: str) -> None:
    weight = original("weight_packed", packed=True)
    weight[70, 2] |= 3 << 2
    message = refused({f"{NAME}.weight_packed": weight}, format="packed")
    assert message.startswith(f"{PREFIX}.{NAME}.weight_packed holds code 3 at row 70, column 9;")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_scale_that_is_not_finite(device: str, value: float) -> None:
    scale = original("weight_scale")
    scale[70, 1] = value
    assert refused({f"{NAME}.weight_scale": scale}) == (
        f"{PREFIX}.{NAME}.weight_scale holds {value} at [70, 1]; scales must be finite."
    )


@pytest.mark.parametrize("group_size", [0, -1, 32], ids=["tensor", "channel", "group"])
@pytest.mark.parametrize("name", ["0.gate_proj", "4.up_proj", "5.down_proj"])
def test_missing_scale(device: str, group_size: int, name: str) -> None:
    assert refused({f"{name}.weight_scale": None}, group_size=group_size) == (
        f"{PREFIX}.{name}.weight_scale is missing from the checkpoint."
    )


@pytest.mark.parametrize("name", ["0.gate_proj", "4.up_proj", "5.down_proj"])
@pytest.mark.parametrize(("kind", "format_name"), [("weight", "int8"), ("weight_packed", "packed")])
def test_missing_weight(device: str, name: str, kind: str, format_name: str) -> None:
    assert refused({f"{name}.{kind}": None}, format=format_name) == (
        f"{PREFIX}.{name}.{kind} is missing from the checkpoint."
    )


def test_missing_expert_on_another_rank(device: str) -> None:
    tensors = tensors_of(make_weights(32))
    layer = experts(make_config(group_size=32), expert_parallel=(1, 2))
    del tensors["7.up_proj.weight"]
    with pytest.raises(ValueError, match=rf"^{PREFIX}\.7\.up_proj\.weight is missing"):
        fill(layer, tensors)


@pytest.mark.parametrize("kind", ["weight", "weight_scale"])
def test_tensor_that_is_there_twice(device: str, kind: str) -> None:
    again = (f"{NAME}.{kind}", original(kind))
    layer = experts(make_config(group_size=32))
    with pytest.raises(ValueError, match=rf"^{PREFIX}\.{NAME}\.{kind} is in the checkpoint twice"):
        list(layer.load_weights([*tensors_of(make_weights(32)).items(), again]))


@pytest.mark.parametrize("repeats", [(2, 1), (1, 2)], ids=["rows", "groups"])
@pytest.mark.parametrize("name", ["4.up_proj", "5.down_proj"])
def test_doubled_scale(device: str, name: str, repeats: tuple[int, int]) -> None:
    scale = tensors_of(make_weights(32))[f"{name}.weight_scale"].repeat(*repeats)
    message = refused({f"{name}.weight_scale": scale})
    assert message.startswith(f"{PREFIX}.{name}.weight_scale has shape {list(scale.shape)}")


@pytest.mark.parametrize("rows", [64, 128])
def test_another_number_of_rows(device: str, rows: int) -> None:
    assert refused({f"{NAME}.weight": torch.zeros(rows, 64, dtype=torch.int8)}) == (
        f"{PREFIX}.{NAME}.weight has shape [{rows}, 64] in the checkpoint, but 96 rows were "
        "expected."
    )


def test_float_weights(device: str) -> None:
    message = refused({f"{NAME}.weight": original("weight").bfloat16()})
    assert message.startswith(f"{PREFIX}.{NAME}.weight is torch.bfloat16 in the checkpoint,")


def test_tensor_of_the_other_format(device: str) -> None:
    assert refused({f"{NAME}.weight_packed": original("weight_packed", packed=True)}) == (
        f"{PREFIX}.{NAME}.weight_packed is in the checkpoint, but quantization_config has format "
        "'int8'."
    )


def test_scale_where_the_config_says_there_is_none(device: str) -> None:
    assert refused({f"{NAME}.weight_scale": torch.ones(1)}, group_size=None) == (
        f"{PREFIX}.{NAME}.weight_scale is in the checkpoint, but quantization_config has no "
        "group_size."
    )


@pytest.mark.parametrize("size", ["hidden_dim", "intermediate_size"])
def test_group_that_does_not_divide(device: str, size: str) -> None:
    with pytest.raises(ValueError, match=rf"^{PREFIX}: group_size 64 does not divide its 96 input"):
        experts(make_config(group_size=64), **({"intermediate_size": 64} | {size: 96}))


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"has_bias": True}, "ternary experts with a bias are not supported"),
        ({"activation": MoEActivation.SWIGLUOAI}, "the activation swigluoai is not supported"),
    ],
)
def test_experts_of_another_kind(device: str, options: dict[str, Any], what: str) -> None:
    with pytest.raises(ValueError, match=rf"^{PREFIX}: {what}"):
        experts(make_config(group_size=32), **options)
