# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Floating point models made ternary by a rule."""

import json
from pathlib import Path

import pytest

pytest.importorskip("vllm")

import torch
from ternary_directories import (
    CONFIG,
    convert,
    dense,
    dequantize,
    floats,
    projections,
    random_codes,
    read_config,
    read_tensors,
    read_weight,
    ternary_values,
    write_model,
)


def ternary(weight: torch.Tensor, kind: str) -> torch.Tensor:
    """TWN, written out, with a scale for each tensor, channel or 32 weights."""
    shape = {"tensor": (1, 1, -1), "channel": (weight.shape[0], 1, -1)}.get(
        kind, (weight.shape[0], -1, 32)
    )
    parts = weight.float().reshape(shape)
    size = parts.abs()
    kept = size > 0.7 * size.mean(-1, keepdim=True)
    scale = (size * kept).sum(-1, keepdim=True) / kept.sum(-1, keepdim=True)
    return (parts.sign() * kept * scale).reshape(weight.shape)


@pytest.mark.parametrize("kind", ["tensor", "channel", "group:32"])
def test_each_kind_of_scale(kind: str, tmp_path: Path) -> None:
    tensors = dense()
    source = write_model(tmp_path / "source", tensors)
    options = ("--rule", "twn", "--scale", kind)
    assert convert(source, tmp_path / "result", *options) == 0

    result = read_tensors(tmp_path / "result")
    report = json.loads((tmp_path / "result/ternary_report.json").read_text())
    for name, size in projections().items():
        weight = tensors[f"{name}.weight"].float()
        expected = ternary(weight, kind)
        # Scales of groups are rounded to bfloat16.
        rtol = 0.004 if kind == "group:32" else 1e-6
        found = read_weight(result, name, size[1])
        torch.testing.assert_close(found, expected, rtol=rtol, atol=1e-5)
        error = (expected - weight).square().sum() / weight.square().sum()
        assert report["layers"][name]["weight_error"] == pytest.approx(float(error), rel=1e-4)
    assert torch.equal(result["lm_head.weight"], tensors["lm_head.weight"])


def test_default_rule_and_scale(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = CONFIG | {"hidden_size": 256, "intermediate_size": 384, "head_dim": 64}
    source = write_model(tmp_path / "source", dense(config), config)
    assert convert(source, tmp_path / "result") == 0
    found = read_config(tmp_path / "result")["quantization_config"]
    assert (found["group_size"], found["activation"]) == (128, "a16")
    assert "is not usable" in capsys.readouterr().err


def read_table(printed: str) -> dict[str, str]:
    """Module and error of the table that is printed, if there is one."""
    rows = [line.split() for line in printed.splitlines() if line.startswith("  ")]
    return {row[0]: row[1] for row in rows}


def test_errors_of_a_model_that_is_almost_ternary(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tensors = ternary_values(dtype=torch.float32)
    name = "model.layers.1.mlp.up_proj"
    tensors[f"{name}.weight"][0] *= 1.001
    source = write_model(tmp_path / "source", tensors)
    options = ("--from", "dense", "--rule", "twn", "--scale", "tensor")
    assert convert(source, tmp_path / "result", *options) == 0

    report = json.loads((tmp_path / "result/ternary_report.json").read_text())
    errors = {name: layer["weight_error"] for name, layer in report["layers"].items()}
    assert 0 < errors[name] < 1e-7
    table = read_table(capsys.readouterr().out)
    assert list(table) == [*errors, "mean"]
    errors["mean"] = sum(errors.values()) / len(errors)
    for layer, error in errors.items():
        assert float(table[layer]) == pytest.approx(error, rel=0.05, abs=0)


def test_no_table_of_what_is_exact(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tensors = floats()
    for seed, (name, size) in enumerate(projections().items()):
        tensors[f"{name}.weight"] = random_codes(*size, seed).bfloat16() / 8
    source = write_model(tmp_path / "source", tensors)
    options = ("--from", "dense", "--rule", "twn", "--scale", "tensor")
    assert convert(source, tmp_path / "result", *options) == 0
    printed = capsys.readouterr().out
    assert read_table(printed) == {}
    assert printed.endswith(", weights exact\n")


def test_kept_modules(tmp_path: Path) -> None:
    tensors = dense()
    source = write_model(tmp_path / "source", tensors)
    assert convert(source, tmp_path / "result", "--keep", "down_proj") == 0
    name = "model.layers.1.mlp.down_proj"
    result = read_tensors(tmp_path / "result")
    assert torch.equal(result[f"{name}.weight"], tensors[f"{name}.weight"])
    assert name in read_config(tmp_path / "result")["quantization_config"]["modules_to_not_convert"]
    assert "model.layers.1.mlp.up_proj.weight_packed" in result


def test_int8_format(tmp_path: Path) -> None:
    source = write_model(tmp_path / "source", dense())
    assert convert(source, tmp_path / "packed") == 0
    assert convert(source, tmp_path / "int8", "--format", "int8") == 0
    assert read_config(tmp_path / "int8")["quantization_config"]["format"] == "int8"
    packed, int8 = (read_tensors(tmp_path / name) for name in ("packed", "int8"))
    for name, size in projections().items():
        assert int8[f"{name}.weight"].dtype == torch.int8
        assert torch.equal(*(read_weight(one, name, size[1]) for one in (packed, int8)))


def test_weights_of_a_bitnet_training_become_what_it_computed(tmp_path: Path) -> None:
    from transformers.integrations.bitnet import WeightQuant

    tensors = dense(dtype=torch.float32)
    config = CONFIG | {"weight_bits": 1, "input_bits": 8}
    source = write_model(tmp_path / "source", tensors, config)
    assert convert(source, tmp_path / "result") == 0
    found = read_config(tmp_path / "result")["quantization_config"]
    assert (found["group_size"], found["activation"]) == (0, "int8")
    result = read_tensors(tmp_path / "result")
    for name, size in projections().items():
        expected = WeightQuant.forward.__wrapped__(None, tensors[f"{name}.weight"])
        torch.testing.assert_close(read_weight(result, name, size[1]), expected)


def test_experts_and_their_router(tmp_path: Path) -> None:
    tensors = dense()
    prefix = "model.layers.0.mlp"
    tensors[f"{prefix}.gate.weight"] = torch.randn(2, 64).bfloat16()
    for expert in range(2):
        tensors[f"{prefix}.experts.{expert}.up_proj.weight"] = torch.randn(32, 64).bfloat16()
    source = write_model(tmp_path / "source", tensors)
    assert convert(source, tmp_path / "result", "--scale", "channel") == 0
    result = read_tensors(tmp_path / "result")
    assert torch.equal(result[f"{prefix}.gate.weight"], tensors[f"{prefix}.gate.weight"])
    for expert in range(2):
        name = f"{prefix}.experts.{expert}.up_proj"
        size = float(dequantize(torch.ones(1, 64), result[f"{name}.weight_scale"][:1]).max())
        assert size > 0
        assert result[f"{name}.weight_packed"].shape == (32, 16)


def experts() -> dict[str, torch.Tensor]:
    return {
        f"model.layers.1.mlp.experts.{expert}.{part}_proj.weight": torch.randn(64, 64).bfloat16()
        for expert in range(2)
        for part in ("gate", "up", "down")
    }


def test_kept_experts_are_named_together(tmp_path: Path) -> None:
    source = write_model(tmp_path / "source", dense() | experts())
    assert convert(source, tmp_path / "result", "--keep", "experts") == 0
    config = read_config(tmp_path / "result")["quantization_config"]
    assert config["modules_to_not_convert"] == ["model.layers.1.mlp.experts"]


@pytest.mark.parametrize("kept", ["experts.1", "experts.0.down_proj"])
def test_a_part_of_the_experts_cannot_be_kept(
    kept: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write_model(tmp_path / "source", dense() | experts())
    assert convert(source, tmp_path / "result", "--keep", kept) == 1
    assert "run as one layer with others that are kept" in capsys.readouterr().err
