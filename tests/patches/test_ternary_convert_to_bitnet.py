# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Bitnet checkpoints that vllm-ternary writes: transformers computes what they mean."""

from pathlib import Path

import pytest

pytest.importorskip("vllm")

import torch
from ternary_directories import (
    CONFIG,
    Tensors,
    convert,
    generator,
    one_thread,
    projections,
    random_codes,
    read_config,
    read_tensors,
    ternary_values,
    write_model,
)


@one_thread()
def logits(path: Path) -> torch.Tensor:
    """Of transformers' model with its own BitNet layers, as it makes them of the config."""
    from transformers import AutoConfig, AutoModelForCausalLM
    from transformers.integrations.bitnet import replace_with_bitnet_linear
    from transformers.utils.quantization_config import BitNetQuantConfig

    settings = read_config(path)["quantization_config"]
    quantization = BitNetQuantConfig.from_dict(settings)
    config = AutoConfig.from_pretrained(path)
    del config.quantization_config
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    skipped = settings["modules_to_not_convert"]
    model = replace_with_bitnet_linear(model, skipped, quantization).to_empty(device="cpu")
    model.load_state_dict(read_tensors(path))
    model.model.rotary_emb.__init__(config)
    tokens = torch.randint(0, CONFIG["vocab_size"], (2, 12), generator=generator())
    with torch.no_grad(), torch.compiler.set_stance("force_eager"):
        out: torch.Tensor = model(tokens).logits
    return out


def model(bias: bool) -> Tensors:
    tensors = ternary_values(0, dtype=torch.float32)
    if bias:
        for layer in range(2):
            for part in "qkvo":
                name = f"model.layers.{layer}.self_attn.{part}_proj"
                size = projections()[name][0]
                tensors[f"{name}.bias"] = torch.randn(size, generator=generator(layer))
    return tensors


@pytest.mark.parametrize("bias", [False, True])
def test_transformers_computes_the_same(bias: bool, tmp_path: Path) -> None:
    tensors = model(bias)
    config = CONFIG | {"attention_bias": bias, "dtype": "float32"}
    source = write_model(tmp_path / "source", tensors, config)
    assert convert(source, tmp_path / "result", "--to", "bitnet") == 0
    found = read_config(tmp_path / "result")["quantization_config"]
    assert found["linear_class"] == ("bitlinear" if bias else "autobitlinear")

    out = logits(tmp_path / "result")
    # Activations of 8 bits are what differs.
    torch.testing.assert_close(out, quantized_activations(source, tensors), rtol=0, atol=0.02)


@one_thread()
def quantized_activations(path: Path, tensors: Tensors) -> torch.Tensor:
    """Logits of the floating point model with its linear layers' inputs in 8 bits."""
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32)

    def quantize(_: object, inputs: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
        x = inputs[0]
        step = x.abs().amax(-1, keepdim=True).clamp(min=1e-5) / 127
        return ((x / step).round().clamp(-128, 127) * step,)

    for name in projections():
        model.get_submodule(name).register_forward_pre_hook(quantize)
    tokens = torch.randint(0, CONFIG["vocab_size"], (2, 12), generator=generator())
    with torch.no_grad():
        out: torch.Tensor = model(tokens).logits
    return out


@pytest.mark.parametrize("bias", [False, True])
def test_a_scale_of_zero(bias: bool, tmp_path: Path) -> None:
    """Outputs are the bias alone, although biases ask for scales that divide."""
    name = "model.layers.0.self_attn.q_proj"
    codes = {part: random_codes(*size) for part, size in projections().items()}
    tensors = model(bias)
    for part in codes:
        tensors[f"{part}.weight"] = codes[part]
        tensors[f"{part}.weight_scale"] = torch.full((1,), 0.0 if part == name else 0.1)
    config = CONFIG | {"attention_bias": bias, "dtype": "float32"}
    quantization = {"quant_method": "ternary", "group_size": 0}
    source = write_model(tmp_path / "source", tensors, config, quantization)
    assert convert(source, tmp_path / "result", "--to", "bitnet") == 0
    for part in codes:
        scale = 0.0 if part == name else 0.1
        tensors[f"{part}.weight"] = codes[part] * scale
        del tensors[f"{part}.weight_scale"]
    dense = write_model(tmp_path / "dense", tensors, config)

    out = logits(tmp_path / "result")
    torch.testing.assert_close(out, quantized_activations(dense, tensors), rtol=0, atol=0.02)


def test_there_and_back(tmp_path: Path) -> None:
    source = write_model(tmp_path / "source", ternary_values(0))
    assert convert(source, tmp_path / "bitnet", "--to", "bitnet") == 0
    assert convert(tmp_path / "bitnet", tmp_path / "back") == 0
    assert convert(source, tmp_path / "direct", "--activation", "int8") == 0
    assert read_config(tmp_path / "back") == read_config(tmp_path / "direct")
    back, direct = (read_tensors(tmp_path / name) for name in ("back", "direct"))
    assert back.keys() == direct.keys()
    for name in back:
        assert torch.equal(back[name], direct[name]), name


def test_what_the_format_cannot_hold_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write_model(tmp_path / "source", ternary_values(-1))
    assert convert(source, tmp_path / "result", "--to", "bitnet") == 1
    assert "has scales for each channel" in capsys.readouterr().err
    assert not (tmp_path / "result").exists()
