# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What vllm-ternary inspect says of a model."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vllm")

import torch
from ternary_directories import (
    CONFIG,
    EMBEDDING,
    Tensors,
    convert,
    dense,
    dequantize,
    floats,
    pack,
    projections,
    random_codes,
    scales,
    ternary_values,
    write_model,
)
from transformers.integrations.bitnet import pack_weights

UP_PROJ = "model.layers.1.mlp.up_proj"


@pytest.fixture
def inspect(capsys: pytest.CaptureFixture[str]) -> Any:
    from vllm.ternary.cli import main

    def run(path: Path) -> tuple[int, dict[str, Any]]:
        capsys.readouterr()
        code = main(["inspect", str(path), "--json"])
        return code, json.loads(capsys.readouterr().out)

    return run


def bitnet() -> Tensors:
    tensors = floats()
    for name, size in projections().items():
        tensors[f"{name}.weight"] = pack_weights(random_codes(*size))
        tensors[f"{name}.weight_scale"] = torch.ones(1).bfloat16()
    return tensors


@pytest.mark.parametrize(
    ("group_size", "kind", "bits"),
    [(0, "tensor", 2.0), (-1, "channel", 2.22), (32, "group:32", 2.5)],
)
def test_our_format(group_size: int, kind: str, bits: float, inspect: Any, tmp_path: Path) -> None:
    tensors = ternary_values(group_size)
    size = (CONFIG["vocab_size"], CONFIG["hidden_size"])
    weight = dequantize(random_codes(*size), scales(size, group_size))
    tensors[f"{EMBEDDING}.weight"] = weight.bfloat16()
    convert(write_model(tmp_path / "source", tensors), tmp_path / "result")
    code, found = inspect(tmp_path / "result")
    assert code == 0
    assert found["served"] is True
    assert found["format"] == "ternary, packed"
    assert found["scales"] == kind
    assert found["activation"] == "a16"
    assert found["architecture"] == "LlamaForCausalLM"
    assert found["ternary_matrices"] == 15
    assert (found["embedding"], found["lm_head"]) == ("ternary", "floating point")
    assert found["bits_per_weight"] == pytest.approx(bits, abs=0.05)


@pytest.mark.parametrize(
    ("linear_class", "does"), [("bitlinear", "divided"), ("autobitlinear", "multiplied")]
)
def test_bitnet_convention(linear_class: str, does: str, inspect: Any, tmp_path: Path) -> None:
    quantization = {"quant_method": "bitnet", "linear_class": linear_class}
    code, found = inspect(write_model(tmp_path / "m", bitnet(), quantization=quantization))
    assert code == 0
    assert found["format"] == "bitnet, packed"
    assert found["convention"] == f"{linear_class}: outputs are {does} by weight_scale"
    assert found["activation"] == "int8"


@pytest.mark.parametrize("settings", [{"activation": "a16"}, {"rms_norm_eps": None}])
def test_bitnet_settings(settings: dict[str, Any], inspect: Any, tmp_path: Path) -> None:
    quantization = {"quant_method": "bitnet"} | settings
    code, found = inspect(write_model(tmp_path / "m", bitnet(), quantization=quantization))
    assert code == 0
    assert found["activation"] == settings.get("activation", "int8")


def test_bitnet_online(inspect: Any, tmp_path: Path) -> None:
    quantization = {
        "quant_method": "bitnet",
        "linear_class": "autobitlinear",
        "quantization_mode": "online",
    }
    code, found = inspect(write_model(tmp_path / "m", dense(), quantization=quantization))
    assert code == 0
    assert found["format"] == "bitnet, the weights of its training"


@pytest.mark.parametrize(("packed", "expected"), [(True, 0), (False, 1)])
def test_online_has_no_meaning_for_bitlinear(
    packed: bool, expected: int, inspect: Any, tmp_path: Path
) -> None:
    quantization = {"quant_method": "bitnet", "quantization_mode": "online"}
    tensors = bitnet() if packed else dense()
    code, found = inspect(write_model(tmp_path / "m", tensors, quantization=quantization))
    assert code == expected
    assert found.get("format") in ("bitnet, packed", "not known")


def test_a_scale_of_zero_gives_zeros(inspect: Any, tmp_path: Path) -> None:
    tensors = bitnet()
    tensors["model.layers.0.mlp.up_proj.weight_scale"].zero_()
    code, _ = inspect(write_model(tmp_path / "m", tensors, quantization={"quant_method": "bitnet"}))
    assert code == 0


def test_ternary_values(inspect: Any, tmp_path: Path) -> None:
    code, found = inspect(write_model(tmp_path / "m", ternary_values(-1)))
    assert code == 1
    assert found["format"] == "floating point with ternary values"
    assert found["scales"] == "channel"
    assert "without loss" in found["reasons"][0]


def test_ordinary_model(inspect: Any, tmp_path: Path) -> None:
    code, found = inspect(write_model(tmp_path / "m", dense()))
    assert code == 1
    assert found["format"] == "floating point (BF16)"
    assert "not ternary" in found["reasons"][0]


def test_every_fault_is_found(inspect: Any, tmp_path: Path) -> None:
    tensors = bitnet()
    tensors["model.layers.0.mlp.up_proj.weight"][3, 1] = 255
    tensors["model.layers.1.mlp.up_proj.weight_scale"][0] = float("inf")
    del tensors["model.layers.1.mlp.down_proj.weight_scale"]
    quantization = {"quant_method": "bitnet"}
    config = CONFIG | {"architectures": ["UnheardOfForCausalLM"]}
    code, found = inspect(write_model(tmp_path / "m", tensors, config, quantization))
    assert code == 1
    text = "\n".join(found["reasons"])
    for part in (
        "layers.0.mlp.up_proj.weight holds code 3 at row 3",
        "layers.1.mlp.up_proj.weight_scale holds inf",
        "layers.1.mlp.down_proj.weight_scale is missing",
        "no model class for UnheardOfForCausalLM",
    ):
        assert part in text


def experts(tensors: Tensors) -> Tensors:
    return {name.replace(".mlp.", ".mlp.experts.0."): one for name, one in tensors.items()}


@pytest.mark.parametrize(
    ("settings", "change", "message"),
    [
        ({"modules_to_not_convert": "lm_head"}, None, "a list of names is expected"),
        (
            {"use_rms_norm": True},
            None,
            "layers.0.mlp.down_proj.rms_norm.weight is missing",
        ),
        ({}, experts, "vLLM serves no experts of the bitnet method"),
        ({"modules_to_not_convert": []}, None, "lm_head.weight is BF16"),
        ({"use_rms_norm": "false"}, None, "use_rms_norm 'false'; true or false is expected"),
        ({"rms_norm_eps": "1e-6"}, None, "rms_norm_eps '1e-6'; a number from 0 to 1 is expected"),
        ({"rms_norm_eps": 5}, None, "rms_norm_eps 5; a number from 0 to 1 is expected"),
        ({"activation": "w8"}, None, "activation is 'w8'; 'a16' or 'int8' is expected"),
    ],
    ids=[
        "a word for a list", "missing norms", "experts", "lm_head", "a word for a truth",
        "a word for a number", "a large eps", "unknown activation",
    ],
)  # fmt: skip
def test_what_the_bitnet_method_refuses(
    settings: dict[str, Any], change: Any, message: str, inspect: Any, tmp_path: Path
) -> None:
    tensors = change(bitnet()) if change else bitnet()
    quantization = {"quant_method": "bitnet"} | settings
    code, found = inspect(write_model(tmp_path / "m", tensors, quantization=quantization))
    assert code == 1
    assert message in found["reasons"][0]


def test_bitnet_with_norms(inspect: Any, tmp_path: Path) -> None:
    tensors = bitnet()
    for name, size in projections().items():
        tensors[f"{name}.rms_norm.weight"] = torch.ones(size[1])
    quantization = {"quant_method": "bitnet", "use_rms_norm": True}
    code, _ = inspect(write_model(tmp_path / "m", tensors, quantization=quantization))
    assert code == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"modules_to_not_convert": "lm_head"}, "a list of names is expected"),
        ({"lm_head": "yes"}, "lm_head is 'yes'; true or false is expected"),
        ({}, "model.layers.1.mlp.up_proj.weight is there beside"),
    ],
    ids=["a word for a list", "a word for a truth", "a second weight"],
)
def test_what_the_ternary_method_refuses(
    settings: dict[str, Any], message: str, inspect: Any, tmp_path: Path
) -> None:
    tensors = floats()
    for name, size in projections().items():
        tensors[f"{name}.weight_packed"] = pack(random_codes(*size))
    if not settings:
        name = "model.layers.1.mlp.up_proj"
        tensors[f"{name}.weight"] = random_codes(*projections()[name])
    quantization = {"quant_method": "ternary", "format": "packed"} | settings
    code, found = inspect(write_model(tmp_path / "m", tensors, quantization=quantization))
    assert code == 1
    assert message in found["reasons"][0]


@pytest.mark.parametrize("method", ["bitnet", "ternary"])
def test_a_fused_layer_that_is_ternary_in_part(method: str, inspect: Any, tmp_path: Path) -> None:
    tensors = bitnet()
    quantization: dict[str, Any] = {"quant_method": method}
    if method == "ternary":
        tensors = floats()
        for name, size in projections().items():
            tensors[f"{name}.weight_packed"] = pack(random_codes(*size))
        quantization["format"] = "packed"
    for tensor in ("weight", "weight_packed", "weight_scale"):
        tensors.pop(f"{UP_PROJ}.{tensor}", None)
    tensors[f"{UP_PROJ}.weight"] = torch.ones(projections()[UP_PROJ]).bfloat16()
    quantization["modules_to_not_convert"] = ["lm_head", UP_PROJ]
    code, found = inspect(write_model(tmp_path / "m", tensors, quantization=quantization))
    assert code == 1
    assert "layers.1.mlp.gate_proj is ternary, but runs as one layer" in found["reasons"][0]


def test_experts_are_skipped_by_their_common_name(inspect: Any, tmp_path: Path) -> None:
    name = "model.layers.1.mlp.experts"
    tensors = floats()
    for other, size in projections().items():
        tensors[f"{other}.weight_packed"] = pack(random_codes(*size))
    tensors[f"{name}.0.up_proj.weight"] = torch.ones(64, 64).bfloat16()
    found = {}
    for skipped in (name, f"{name}.0.up_proj"):
        quantization = {
            "quant_method": "ternary", "format": "packed", "modules_to_not_convert": [skipped],
        }  # fmt: skip
        path = write_model(tmp_path / skipped, tensors, quantization=quantization)
        found[skipped], _ = inspect(path)
    assert found == {name: 0, f"{name}.0.up_proj": 1}


def test_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from vllm.ternary.cli import main

    convert(write_model(tmp_path / "source", ternary_values()), tmp_path / "result")
    capsys.readouterr()
    assert main(["inspect", str(tmp_path / "result")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "served as ternary: yes" in lines
    assert any(line.startswith("format:") and line.endswith("ternary, packed") for line in lines)
