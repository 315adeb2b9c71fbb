# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Hugging Face's bitnet checkpoints become ternary ones that compute the same."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vllm")

import torch
from ternary_directories import (
    CONFIG,
    Tensors,
    convert,
    dense,
    floats,
    generator,
    projections,
    random_codes,
    read_config,
    read_tensors,
    read_weight,
    write_model,
)
from transformers.integrations.bitnet import AutoBitLinear, BitLinear, pack_weights

BIASED = "model.layers.0.self_attn.q_proj"


def bitnet(linear_class: str, config: dict[str, Any] = CONFIG, **settings: Any) -> Any:
    return {
        "quant_method": "bitnet",
        "linear_class": linear_class,
        "quantization_mode": "offline",
        "modules_to_not_convert": None,
    } | settings


def packed_model(config: dict[str, Any] = CONFIG) -> tuple[Tensors, Tensors]:
    """Tensors of a checkpoint as transformers packs them, and the codes in it."""
    tensors, codes = floats(config), {}
    for seed, (name, size) in enumerate(projections(config).items()):
        codes[name] = random_codes(*size, seed)
        # The packer changes what it is given.
        tensors[f"{name}.weight"] = pack_weights(codes[name].clone())
        scale = torch.rand(1, generator=generator(seed)) * 2 + 0.1
        tensors[f"{name}.weight_scale"] = scale.bfloat16()
    tensors[f"{BIASED}.bias"] = torch.randn(64, generator=generator()).bfloat16()
    return tensors, codes


def quantize_tokens(x: torch.Tensor) -> torch.Tensor:
    top = x.abs().amax(-1, keepdim=True).clamp(min=1e-5)
    return (x * 127 / top).round().clamp(-128, 127) * top / 127


@pytest.mark.parametrize("linear_class", ["bitlinear", "autobitlinear"])
def test_a_layer_computes_what_transformers_does(linear_class: str, tmp_path: Path) -> None:
    tensors, _ = packed_model()
    source = write_model(tmp_path / "source", tensors, quantization=bitnet(linear_class))
    assert convert(source, tmp_path / "result") == 0
    found = read_config(tmp_path / "result")["quantization_config"]
    assert (found["group_size"], found["activation"]) == (0, "int8")
    result = read_tensors(tmp_path / "result")

    kinds = {"bitlinear": BitLinear, "autobitlinear": AutoBitLinear}
    x = torch.randn(5, 64, generator=generator(9))
    for name in (BIASED, "model.layers.1.mlp.up_proj"):
        size = projections()[name]
        bias = tensors.get(f"{name}.bias")
        kind = kinds[linear_class]
        layer: Any = kind(size[1], size[0], bias=bias is not None, dtype=torch.float32)
        state = {
            key: tensors[f"{name}.{key}"]
            for key in ("weight", "weight_scale", "bias")
            if f"{name}.{key}" in tensors
        }
        layer.load_state_dict(state, strict=True)
        layer = layer.float() if linear_class == "autobitlinear" else layer
        with torch.no_grad(), torch.compiler.set_stance("force_eager"):
            expected = layer(x)
        weight = read_weight(result, name, size[1])
        out = quantize_tokens(x) @ weight.T
        if bias is not None:
            out = out + result[f"{name}.bias"].float()
        # A bias that is multiplied by the scale is rounded to bfloat16.
        allowed = 1e-4 if bias is None else 1e-2
        torch.testing.assert_close(out, expected.float(), rtol=allowed, atol=allowed)


@pytest.mark.parametrize("inner", [126, 127, 125])
def test_output_channels_that_four_does_not_divide(inner: int, tmp_path: Path) -> None:
    config = CONFIG | {"intermediate_size": inner}
    tensors, codes = packed_model(config)
    quantization = bitnet("autobitlinear")
    source = write_model(tmp_path / "source", tensors, config, quantization)
    assert convert(source, tmp_path / "result") == 0
    result = read_tensors(tmp_path / "result")
    for name, size in projections(config).items():
        scale = tensors[f"{name}.weight_scale"].float()
        assert torch.equal(read_weight(result, name, size[1]), codes[name] * scale), name


def test_scales_keep_their_bits_where_they_multiply(tmp_path: Path) -> None:
    tensors, _ = packed_model()
    source = write_model(tmp_path / "source", tensors, quantization=bitnet("autobitlinear"))
    assert convert(source, tmp_path / "result") == 0
    result = read_tensors(tmp_path / "result")
    for name in projections():
        key = f"{name}.weight_scale"
        assert torch.equal(result[key], tensors[key])


def test_modules_to_not_convert_stay(tmp_path: Path) -> None:
    tensors, _ = packed_model()
    name = "model.layers.1.mlp.down_proj"
    tensors[f"{name}.weight"] = dense()[f"{name}.weight"]
    del tensors[f"{name}.weight_scale"]
    quantization = bitnet("bitlinear", modules_to_not_convert=["lm_head", name])
    source = write_model(tmp_path / "source", tensors, quantization=quantization)
    assert convert(source, tmp_path / "result") == 0
    result = read_tensors(tmp_path / "result")
    assert torch.equal(result[f"{name}.weight"], tensors[f"{name}.weight"])
    found = read_config(tmp_path / "result")["quantization_config"]
    assert found["modules_to_not_convert"] == [name]


def test_online_weights_become_what_transformers_computes_with(tmp_path: Path) -> None:
    from transformers.integrations.bitnet import WeightQuant

    config = CONFIG | {"dtype": "float32"}
    tensors = dense(dtype=torch.float32)
    quantization = bitnet("autobitlinear", quantization_mode="online")
    source = write_model(tmp_path / "source", tensors, config, quantization)
    assert convert(source, tmp_path / "result") == 0
    result = read_tensors(tmp_path / "result")
    for name, size in projections().items():
        expected = WeightQuant.forward.__wrapped__(None, tensors[f"{name}.weight"])
        torch.testing.assert_close(read_weight(result, name, size[1]), expected)


def test_online_scales_are_those_of_loading(tmp_path: Path) -> None:
    from vllm.model_executor.layers.quantization.utils.bitnet_utils import quantize_absmean

    tensors = dense()
    quantization = bitnet("autobitlinear", quantization_mode="online", modules_to_not_convert=[])
    source = write_model(tmp_path / "source", tensors, quantization=quantization)
    assert convert(source, tmp_path / "result") == 0
    assert read_config(tmp_path / "result")["quantization_config"]["lm_head"] is True
    result = read_tensors(tmp_path / "result")
    for name in [*projections(), "lm_head"]:
        codes, scale = quantize_absmean(tensors[f"{name}.weight"])
        expected = codes * scale.bfloat16().float()
        assert torch.equal(read_weight(result, name, codes.shape[1]), expected), name


@pytest.mark.parametrize("activation", ["a16", "int8"])
def test_what_it_runs_with_stays(activation: str, tmp_path: Path) -> None:
    settings = bitnet("bitlinear", activation=activation)
    source = write_model(tmp_path / "source", packed_model()[0], quantization=settings)
    assert convert(source, tmp_path / "result") == 0
    found = read_config(tmp_path / "result")["quantization_config"]
    assert found["activation"] == activation
