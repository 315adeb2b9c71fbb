# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""GGUF models become directories with the names, settings and logits of the original."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vllm")
pytest.importorskip("gguf")

import torch
from gguf_models import config as make_config
from gguf_models import write_gguf
from ternary_directories import (
    EMBEDDING,
    LM_HEAD,
    Tensors,
    convert,
    dequantize,
    generator,
    one_thread,
    projections,
    random_codes,
    read_config,
    read_tensors,
    read_weight,
    scales,
    ternary_values,
    write_model,
)

ARCHITECTURES = {
    "llama": "LlamaForCausalLM",
    "qwen2": "Qwen2ForCausalLM",
    "qwen3": "Qwen3ForCausalLM",
}


def make_model(arch: str, group_size: int) -> tuple[Tensors, dict[str, Any]]:
    config = make_config(arch, ARCHITECTURES[arch])
    tensors = ternary_values(group_size, config, torch.float32)
    for layer in range(2):
        prefix = f"model.layers.{layer}"
        if arch == "qwen2":
            for part in "qkv":
                size = projections(config)[f"{prefix}.self_attn.{part}_proj"][0]
                bias = torch.randn(size, generator=generator(layer)) * 0.1
                tensors[f"{prefix}.self_attn.{part}_proj.bias"] = bias
        for name in ["q_norm", "k_norm"] if arch == "qwen3" else []:
            norm = torch.rand(64, generator=generator(9)) + 0.5
            tensors[f"{prefix}.self_attn.{name}.weight"] = norm
    # The writer rounds them to half precision.
    for name in (EMBEDDING, LM_HEAD):
        tensors[f"{name}.weight"] = tensors[f"{name}.weight"].half().float()
    return tensors, config


@pytest.fixture
def tokenizer(tmp_path: Path) -> Path:
    path = tmp_path / "tokenizer"
    path.mkdir()
    (path / "tokenizer.json").write_text("{}")
    return path


@one_thread()
def logits(config: dict[str, Any], tensors: Tensors) -> torch.Tensor:
    from transformers import AutoConfig, AutoModelForCausalLM

    settings = AutoConfig.for_model(**config)
    model = AutoModelForCausalLM.from_config(settings, dtype=torch.float32)
    model.load_state_dict(tensors)
    tokens = torch.randint(0, 96, (1, 10), generator=generator())
    with torch.no_grad():
        out: torch.Tensor = model(tokens).logits
    return out


@pytest.mark.parametrize(
    ("arch", "kind", "group_size"),
    [
        ("llama", "TQ2_0", 256),
        ("llama", "TQ1_0", -1),
        ("qwen2", "TQ2_0", 0),
        ("qwen3", "Q2_0:64", 64),
        ("qwen3", "Q2_0:128", 128),
        ("qwen3", "TQ1_0", 0),
    ],
)
def test_logits(arch: str, kind: str, group_size: int, tokenizer: Path, tmp_path: Path) -> None:
    tensors, config = make_model(arch, group_size)
    if group_size == 256:
        # Where a row is one block, its scale is that of the channel.
        name = "model.layers.0.mlp.down_proj"
        weight = dequantize(random_codes(256, 512), scales((256, 512), 256))
        tensors[f"{name}.weight"] = weight
    source = write_gguf(tmp_path / "model.gguf", tensors, config, kind)
    assert convert(source, tmp_path / "result", "--tokenizer", tokenizer) == 0

    found = read_config(tmp_path / "result")
    quantization = found.pop("quantization_config")
    assert quantization["group_size"] == group_size
    assert quantization["activation"] == "a16"
    assert found["architectures"] == [ARCHITECTURES[arch]]
    result = read_tensors(tmp_path / "result")
    dense = {name: tensor.float() for name, tensor in result.items()}
    for name, size in projections(config).items():
        assert torch.equal(read_weight(result, name, size[1]), tensors[f"{name}.weight"]), name
        del dense[f"{name}.weight_packed"], dense[f"{name}.weight_scale"]
        dense[f"{name}.weight"] = read_weight(result, name, size[1])
    assert (tmp_path / "result/tokenizer.json").exists()
    torch.testing.assert_close(logits(found, dense), logits(config, tensors))


def test_ternary_embedding_and_lm_head(tokenizer: Path, tmp_path: Path) -> None:
    tensors, config = make_model("qwen3", 128)
    kinds = {}
    for seed, name in enumerate((EMBEDDING, LM_HEAD)):
        weight = dequantize(random_codes(96, 256, seed), scales((96, 256), 128, seed))
        tensors[f"{name}.weight"] = weight
        kinds[f"{name}.weight"] = "Q2_0:128"
    source = write_gguf(tmp_path / "model.gguf", tensors, config, "Q2_0:128", kinds)
    assert convert(source, tmp_path / "result", "--tokenizer", tokenizer) == 0
    found = read_config(tmp_path / "result")["quantization_config"]
    assert (found["embeddings"], found["lm_head"]) == (True, True)
    result = read_tensors(tmp_path / "result")
    for name in (EMBEDDING, LM_HEAD):
        assert torch.equal(read_weight(result, name, 256), tensors[f"{name}.weight"])


def test_tied_embedding_in_blocks_of_eight_bits(tokenizer: Path, tmp_path: Path) -> None:
    tensors, config = make_model("qwen3", 128)
    del tensors[f"{LM_HEAD}.weight"]
    source = write_gguf(
        tmp_path / "model.gguf", tensors, config, "Q2_0:128", {f"{EMBEDDING}.weight": "Q8_0"}
    )
    assert convert(source, tmp_path / "result", "--tokenizer", tokenizer) == 0
    assert read_config(tmp_path / "result")["tie_word_embeddings"] is True
    found = read_tensors(tmp_path / "result")[f"{EMBEDDING}.weight"]
    assert found.dtype == torch.float16
    torch.testing.assert_close(found.float(), tensors[f"{EMBEDDING}.weight"], rtol=0, atol=0.02)


def test_settings(tokenizer: Path, tmp_path: Path) -> None:
    tensors, config = make_model("llama", 0)
    source = write_gguf(tmp_path / "model.gguf", tensors, config)
    assert convert(source, tmp_path / "result", "--tokenizer", tokenizer) == 0
    found = read_config(tmp_path / "result")
    for key in (
        "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
        "num_key_value_heads", "head_dim", "vocab_size", "max_position_embeddings",
        "rms_norm_eps", "rope_theta", "hidden_act", "tie_word_embeddings", "bos_token_id",
        "eos_token_id",
    ):  # fmt: skip
        assert found[key] == config[key], key


def inspect(path: Path) -> int:
    from vllm.ternary.cli import main

    return main(["inspect", str(path)])


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "another type": (
        {"kinds": {"model.layers.1.mlp.up_proj.weight": "Q8_0"}},
        "blk.1.ffn_up.weight is Q8_0; TQ1_0, TQ2_0, Q2_0 are ternary",
    ),
    "a floating point layer": (
        {"kinds": {"model.layers.1.mlp.up_proj.weight": "F16"}},
        "blk.1.ffn_up.weight is F16",
    ),
    "an embedding of another type": (
        {"kinds": {"model.embed_tokens.weight": "Q5_0"}},
        "token_embd.weight is Q5_0",
    ),
    "hadamard": (
        {"metadata": {"prism.hadamard.block_size": 1024}},
        "prism.hadamard.block_size asks for a Hadamard transform",
    ),
    "scaling": (
        {"metadata": {"llama.rope.scaling.type": "longrope"}},
        "llama.rope.scaling.type is 'longrope'",
    ),
}


@pytest.mark.parametrize("defect", BAD)
def test_refused(
    defect: str, tokenizer: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tensors, config = make_model("llama", 0)
    options, message = BAD[defect]
    source = write_gguf(tmp_path / "model.gguf", tensors, config, **options)
    assert convert(source, tmp_path / "result", "--tokenizer", tokenizer) == 1
    assert message in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.gguf", "tokenizer"]
    # What is not converted is not called convertible.
    assert inspect(source) == 1
    said = capsys.readouterr().out
    assert message in said and "makes a model directory of it" not in said


def test_an_architecture_whose_activation_function_is_not_said(
    tokenizer: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tensors, _ = make_model("llama", 0)
    config = make_config("bitnet", "BitNetForCausalLM")
    source = write_gguf(tmp_path / "model.gguf", tensors, config)
    assert convert(source, tmp_path / "result", "--tokenizer", tokenizer) == 1
    message = "is of the architecture 'bitnet'; llama, qwen2, qwen3 can be converted"
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(("number", "name"), [(142, "PQ2_0"), (143, "PTQ1_0"), (36, "I2_S")])
def test_types_that_the_package_does_not_know(
    number: int,
    name: str,
    tokenizer: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    tensors, config = make_model("llama", 0)
    source = write_gguf(tmp_path / "model.gguf", tensors, config, "Q2_0:128")
    data = bytearray(source.read_bytes())
    place = data.index(b"blk.0.ffn_up.weight") + len("blk.0.ffn_up.weight") + 4 + 16
    assert data[place : place + 4] == (42).to_bytes(4, "little")
    data[place : place + 4] = number.to_bytes(4, "little")
    source.write_bytes(data)
    assert convert(source, tmp_path / "result", "--tokenizer", tokenizer) == 1
    assert f"blk.0.ffn_up.weight is {name}" in capsys.readouterr().err


@pytest.mark.parametrize("size", [3, 20, 700, 100_000])
def test_cut_off(
    size: int, tokenizer: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tensors, config = make_model("llama", 0)
    source = write_gguf(tmp_path / "model.gguf", tensors, config)
    source.write_bytes(source.read_bytes()[:size])
    assert convert(source, tmp_path / "result", "--tokenizer", tokenizer) == 1
    message = capsys.readouterr().err
    assert "cut off" in message or "not a GGUF" in message
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "metadata", "message"),
    [
        ("model.layers.1.self_attn.q_proj.weight", {}, "it has no blk.1.attn_q.weight"),
        ("model.norm.weight", {}, "it has no output_norm.weight"),
        (None, {"split.count": 3}, "is one of 3 parts"),
    ],
)
def test_a_part_of_a_model(
    name: str | None,
    metadata: dict[str, Any],
    message: str,
    tokenizer: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    tensors, config = make_model("llama", 0)
    tensors.pop(name or "", None)
    source = write_gguf(tmp_path / "model.gguf", tensors, config, metadata=metadata)
    assert convert(source, tmp_path / "result", "--tokenizer", tokenizer) == 1
    assert message in capsys.readouterr().err


def test_code_three(tokenizer: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tensors, config = make_model("qwen3", 128)
    source = write_gguf(tmp_path / "model.gguf", tensors, config, "Q2_0:128")
    from vllm.ternary.gguf_file import GgufFile

    tensor = GgufFile(source).tensors["blk.1.ffn_gate.weight"]
    data = bytearray(source.read_bytes())
    data[tensor.offset + 5 * tensor.row_bytes + 34 + 2 + 1] |= 0b11
    source.write_bytes(data)
    assert convert(source, tmp_path / "result", "--tokenizer", tokenizer) == 1
    message = "blk.1.ffn_gate.weight holds code 3 at row 5, column 132"
    assert message in capsys.readouterr().err


def test_without_a_tokenizer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tensors, config = make_model("llama", 0)
    source = write_gguf(tmp_path / "model.gguf", tensors, config)
    assert convert(source, tmp_path / "result") == 2
    assert "needs --tokenizer DIR" in capsys.readouterr().err


def test_a_tokenizer_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tensors, config = make_model("llama", 0)
    source = write_gguf(tmp_path / "model.gguf", tensors, config)
    assert convert(source, tmp_path / "result", "--tokenizer", tmp_path) == 2
    assert "has no tokenizer in it" in capsys.readouterr().err


def test_inspect(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tensors, config = make_model("llama", 0)
    source = write_gguf(tmp_path / "model.gguf", tensors, config)
    assert inspect(source) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "format:            GGUF: 2 F16, 5 F32, 14 TQ2_0" in lines
    assert "bits per weight:   2.062" in lines


def test_the_directory_of_the_original_is_a_tokenizer(tmp_path: Path) -> None:
    tensors, config = make_model("llama", 0)
    original = write_model(tmp_path / "original", tensors, config)
    (original / "tokenizer.json").write_text("{}")
    source = write_gguf(tmp_path / "model.gguf", tensors, config)
    assert convert(source, tmp_path / "result", "--tokenizer", original) == 0
    assert {path.name for path in (tmp_path / "result").iterdir()} == {
        "config.json", "model.safetensors", "ternary_report.json", "tokenizer.json",
        "tokenizer_config.json",
    }  # fmt: skip
