# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Weights that are ternary already keep their values to the last bit."""

from pathlib import Path

import pytest

pytest.importorskip("vllm")

import torch
from ternary_directories import (
    CONFIG,
    EMBEDDING,
    LM_HEAD,
    convert,
    dense,
    dequantize,
    generator,
    projections,
    random_codes,
    read_config,
    read_tensors,
    read_weight,
    scales,
    ternary_values,
    write_model,
)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("group_size", [0, -1, 32, 64])
def test_values_and_granularity_are_kept(
    group_size: int, dtype: torch.dtype, tmp_path: Path
) -> None:
    tensors = ternary_values(group_size, dtype=dtype)
    if group_size == 64:
        # Where a row is one group, a scale for each channel says the same.
        for name, size in projections().items():
            if size[1] == 64:
                continue
            codes = random_codes(*size, seed=7)
            tensors[f"{name}.weight"] = dequantize(codes, scales(size, 64, 7)).to(dtype)
    source = write_model(tmp_path / "source", tensors)
    assert convert(source, tmp_path / "result") == 0

    result = read_tensors(tmp_path / "result")
    assert read_config(tmp_path / "result")["quantization_config"] == {
        "quant_method": "ternary",
        "format": "packed",
        "activation": "a16",
        "group_size": group_size,
    }
    for name, size in projections().items():
        weight = read_weight(result, name, size[1])
        assert torch.equal(weight, tensors[f"{name}.weight"].float()), name
        assert result[f"{name}.weight_scale"].dtype == dtype
    for name in set(tensors) - {f"{name}.weight" for name in projections()}:
        assert torch.equal(result[name], tensors[name]), name


def test_coarser_scales_are_repeated_where_one_matrix_needs_groups(tmp_path: Path) -> None:
    tensors = ternary_values(0)
    name, size = "model.layers.1.mlp.down_proj", (64, 128)
    tensors[f"{name}.weight"] = dequantize(random_codes(*size), scales(size, 32)).bfloat16()
    source = write_model(tmp_path / "source", tensors)
    assert convert(source, tmp_path / "result") == 0

    config = read_config(tmp_path / "result")["quantization_config"]
    assert config["group_size"] == 32
    result = read_tensors(tmp_path / "result")
    for name, size in projections().items():
        weight = read_weight(result, name, size[1])
        assert torch.equal(weight, tensors[f"{name}.weight"].float()), name


def test_groups_without_weights_and_negative_zero(tmp_path: Path) -> None:
    tensors = ternary_values(32)
    name = "model.layers.0.mlp.up_proj.weight"
    tensors[name][3, :32] = -0.0
    tensors[name][5] = 0.0
    source = write_model(tmp_path / "source", tensors)
    assert convert(source, tmp_path / "result") == 0
    weight = read_weight(read_tensors(tmp_path / "result"), name.removesuffix(".weight"), 64)
    assert torch.equal(weight, tensors[name].float())


def test_float64_that_float32_holds(tmp_path: Path) -> None:
    tensors = ternary_values(-1, dtype=torch.float64)
    source = write_model(tmp_path / "source", tensors)
    assert convert(source, tmp_path / "result") == 0
    result = read_tensors(tmp_path / "result")
    for name, size in projections().items():
        assert result[f"{name}.weight_scale"].dtype == torch.float32
        weight = read_weight(result, name, size[1])
        assert torch.equal(weight.double(), tensors[f"{name}.weight"]), name


def test_float64_that_float32_does_not_hold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tensors = ternary_values(0, dtype=torch.float64)
    name = "model.layers.1.mlp.up_proj.weight"
    tensors[name] *= 1 + 2**-40
    source = write_model(tmp_path / "source", tensors)
    assert convert(source, tmp_path / "result") == 1
    assert f"{name} is F64, and float32 does not hold" in capsys.readouterr().err
    assert not list(tmp_path.glob("result*"))


def test_zeros_do_not_make_a_model_ternary(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tensors = dense()
    tensors["model.layers.0.self_attn.o_proj.weight"].zero_()
    source = write_model(tmp_path / "source", tensors)
    assert convert(source, tmp_path / "result") == 0
    result = read_tensors(tmp_path / "result")
    assert all(f"{name}.weight_packed" in result for name in projections())
    assert convert(source, tmp_path / "exact", "--from", "ternary") == 1
    assert "holds no ternary weights" in capsys.readouterr().err


def test_zeros_in_a_ternary_model(tmp_path: Path) -> None:
    tensors = ternary_values(0)
    tensors["model.layers.0.self_attn.o_proj.weight"].zero_()
    source = write_model(tmp_path / "source", tensors)
    assert convert(source, tmp_path / "result") == 0
    result = read_tensors(tmp_path / "result")
    for name, size in projections().items():
        weight = read_weight(result, name, size[1])
        assert torch.equal(weight, tensors[f"{name}.weight"].float()), name


@pytest.mark.parametrize("tied", [False, True])
def test_embedding_and_lm_head(tied: bool, tmp_path: Path) -> None:
    config = CONFIG | {"tie_word_embeddings": tied}
    tensors = ternary_values(32, config)
    size = (CONFIG["vocab_size"], CONFIG["hidden_size"])
    ends = [EMBEDDING] if tied else [EMBEDDING, LM_HEAD]
    for seed, name in enumerate(ends):
        weight = dequantize(random_codes(*size, seed), scales(size, 32, seed))
        tensors[f"{name}.weight"] = weight.bfloat16()
    if tied:
        # Some checkpoints hold the tied matrix twice.
        tensors[f"{LM_HEAD}.weight"] = tensors[f"{EMBEDDING}.weight"].clone()
    source = write_model(tmp_path / "source", tensors, config)
    assert convert(source, tmp_path / "result") == 0

    found = read_config(tmp_path / "result")["quantization_config"]
    assert found["embeddings"] is True
    assert found.get("lm_head", False) is not tied
    result = read_tensors(tmp_path / "result")
    assert f"{LM_HEAD}.weight" not in result
    assert (f"{LM_HEAD}.weight_packed" in result) is not tied
    for name in ends:
        weight = read_weight(result, name, size[1])
        assert torch.equal(weight, tensors[f"{name}.weight"].float())


def test_fused_layers_stay_whole(tmp_path: Path) -> None:
    tensors = ternary_values(0)
    name = "model.layers.1.self_attn.k_proj.weight"
    tensors[name] = torch.randn(32, 64, generator=generator()).bfloat16()
    source = write_model(tmp_path / "source", tensors)
    assert convert(source, tmp_path / "result") == 0

    result = read_tensors(tmp_path / "result")
    left = [f"model.layers.1.self_attn.{part}_proj" for part in "qkv"]
    for name in left:
        assert torch.equal(result[f"{name}.weight"], tensors[f"{name}.weight"])
    config = read_config(tmp_path / "result")["quantization_config"]
    assert sorted(config["modules_to_not_convert"]) == sorted(left)
    assert "model.layers.0.self_attn.q_proj.weight_packed" in result
    assert "model.layers.1.self_attn.o_proj.weight_packed" in result


@pytest.mark.parametrize(
    ("dense", "left"),
    [
        ("in_proj_z", ("in_proj_qkv", "in_proj_z")),
        ("in_proj_a", ("in_proj_b", "in_proj_a")),
    ],
)
def test_fused_layers_of_linear_attention_stay_whole(
    dense: str, left: tuple[str, ...], tmp_path: Path
) -> None:
    tensors = ternary_values(0)
    prefix = "model.layers.1.linear_attn"
    for name in ("in_proj_qkv", "in_proj_z", "in_proj_b", "in_proj_a"):
        tensors[f"{prefix}.{name}.weight"] = random_codes(32, 64).bfloat16()
    tensors[f"{prefix}.{dense}.weight"] = torch.randn(32, 64, generator=generator()).bfloat16()
    source = write_model(tmp_path / "source", tensors)
    assert convert(source, tmp_path / "result") == 0

    config = read_config(tmp_path / "result")["quantization_config"]
    assert sorted(config["modules_to_not_convert"]) == sorted(f"{prefix}.{name}" for name in left)


def test_experts_of_a_layer_stay_whole(tmp_path: Path) -> None:
    tensors = ternary_values(0)
    for layer in range(2):
        for expert in range(2):
            name = f"model.layers.{layer}.mlp.experts.{expert}.down_proj.weight"
            tensors[name] = random_codes(64, 32).bfloat16()
    tensors[name] = torch.randn(64, 32, generator=generator()).bfloat16()
    source = write_model(tmp_path / "source", tensors)
    assert convert(source, tmp_path / "result") == 0

    result = read_tensors(tmp_path / "result")
    for expert in range(2):
        assert f"model.layers.0.mlp.experts.{expert}.down_proj.weight_packed" in result
        name = f"model.layers.1.mlp.experts.{expert}.down_proj.weight"
        assert torch.equal(result[name], tensors[name])
    # vLLM asks for all experts of a layer at once.
    config = read_config(tmp_path / "result")["quantization_config"]
    assert config["modules_to_not_convert"] == ["model.layers.1.mlp.experts"]


def test_experts_in_one_tensor_are_named(tmp_path: Path) -> None:
    tensors = ternary_values(0)
    name = "model.layers.1.mlp.experts.gate_up_proj"
    tensors[name] = torch.randn(2, 64, 64, generator=generator()).bfloat16()
    source = write_model(tmp_path / "source", tensors)
    assert convert(source, tmp_path / "result") == 0

    assert torch.equal(read_tensors(tmp_path / "result")[name], tensors[name])
    config = read_config(tmp_path / "result")["quantization_config"]
    assert config["modules_to_not_convert"] == ["model.layers.1.mlp.experts"]
