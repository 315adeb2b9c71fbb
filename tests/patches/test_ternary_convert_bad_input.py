# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What is wrong with a source is said in one line, and nothing stands at the destination."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vllm")

import torch
from ternary_directories import (
    CONFIG,
    convert,
    dense,
    floats,
    pack,
    projections,
    random_codes,
    read_config,
    read_tensors,
    ternary_values,
    write_model,
)
from transformers.integrations.bitnet import pack_weights

NAME = "model.layers.1.mlp.up_proj"
BITNET = {"quant_method": "bitnet", "linear_class": "bitlinear"}
PACKED = {"quant_method": "ternary", "format": "packed", "group_size": 0}


def bitnet(path: Path) -> dict[str, torch.Tensor]:
    tensors = floats()
    for name, size in projections().items():
        tensors[f"{name}.weight"] = pack_weights(random_codes(*size))
        tensors[f"{name}.weight_scale"] = torch.ones(1)
    return tensors


def packed(path: Path) -> dict[str, torch.Tensor]:
    tensors = floats()
    for name, size in projections().items():
        tensors[f"{name}.weight_packed"] = pack(random_codes(*size))
        tensors[f"{name}.weight_scale"] = torch.ones(1)
    return tensors


def code_three(path: Path) -> None:
    tensors = packed(path)
    tensors[f"{NAME}.weight_packed"][7, 2] |= 0b11_00_00
    write_model(path, tensors, quantization=PACKED)


def code_three_in_planes(path: Path) -> None:
    tensors = bitnet(path)
    tensors[f"{NAME}.weight"][7, 2] |= 0b11_00
    write_model(path, tensors, quantization=BITNET)


def int8_that_is_not_ternary(path: Path) -> None:
    tensors = floats()
    for name, size in projections().items():
        tensors[f"{name}.weight"] = random_codes(*size)
    tensors[f"{NAME}.weight"][7, 2] = 2
    write_model(path, tensors)


def float_weights_offline(path: Path) -> None:
    write_model(path, dense(), quantization=BITNET)


def missing_scale(path: Path) -> None:
    tensors = bitnet(path)
    del tensors[f"{NAME}.weight_scale"]
    write_model(path, tensors, quantization=BITNET)


def missing_packed_scale(path: Path) -> None:
    tensors = packed(path)
    del tensors[f"{NAME}.weight_scale"]
    write_model(path, tensors, quantization=PACKED)


def one_missing_int8_scale(path: Path) -> None:
    tensors = floats()
    for name, size in projections().items():
        tensors[f"{name}.weight"] = random_codes(*size)
        tensors[f"{name}.weight_scale"] = torch.ones(1)
    del tensors[f"{NAME}.weight_scale"]
    write_model(path, tensors)


def doubled_scale(path: Path) -> None:
    from safetensors.torch import save_file

    write_model(path, bitnet(path), quantization=BITNET)
    save_file({f"{NAME}.weight_scale": torch.ones(1)}, path / "more.safetensors")


def two_scales(path: Path) -> None:
    tensors = bitnet(path)
    tensors[f"{NAME}.weight_scale"] = torch.ones(2)
    write_model(path, tensors, quantization=BITNET)


def nan_scale(path: Path) -> None:
    tensors = bitnet(path)
    tensors[f"{NAME}.weight_scale"] = torch.tensor([float("nan")])
    write_model(path, tensors, quantization=BITNET)


def tiny_that_divides(path: Path) -> None:
    tensors = bitnet(path)
    tensors[f"{NAME}.weight_scale"] = torch.tensor([1e-42])
    write_model(path, tensors, quantization=BITNET)


def infinite_group_scale(path: Path) -> None:
    tensors = packed(path)
    for name, size in projections().items():
        tensors[f"{name}.weight_scale"] = torch.ones(size[0], size[1] // 32)
    tensors[f"{NAME}.weight_scale"][3, 1] = float("inf")
    write_model(path, tensors, quantization=PACKED | {"group_size": 32})


def wrong_rows(path: Path) -> None:
    tensors = bitnet(path)
    tensors[f"{NAME}.weight"] = tensors[f"{NAME}.weight"][:-1].clone()
    write_model(path, tensors, quantization=BITNET)


def norms_in_projections(path: Path) -> None:
    write_model(path, bitnet(path), quantization=BITNET | {"use_rms_norm": True})


def packed_norm(path: Path) -> None:
    tensors = bitnet(path)
    tensors["model.layers.0.self_attn.q_norm.weight"] = torch.zeros(16, dtype=torch.uint8)
    write_model(path, tensors, quantization=BITNET)


def nan_weight(path: Path) -> None:
    tensors = dense()
    tensors[f"{NAME}.weight"][7, 2] = float("nan")
    write_model(path, tensors)


def cut_off(path: Path) -> None:
    write_model(path, dense())
    os.truncate(path / "model.safetensors", 20_000)


def cut_off_in_the_header(path: Path) -> None:
    write_model(path, dense())
    os.truncate(path / "model.safetensors", 100)


def empty_file(path: Path) -> None:
    write_model(path, dense())
    os.truncate(path / "model.safetensors", 0)


def missing_shard(path: Path) -> None:
    write_model(path, dense(), shards=3)
    (path / "model-00002-of-00003.safetensors").unlink()


def hadamard(path: Path) -> None:
    config = CONFIG | {"transform": {"hadamard_block_size": 1024}}
    write_model(path, ternary_values(), config)


def other_method(path: Path) -> None:
    write_model(path, dense(), quantization={"quant_method": "gptq", "bits": 4})


def quantization_in_a_word(path: Path) -> None:
    write_model(path, bitnet(path), CONFIG | {"quantization_config": "bitnet"})


def quantization_in_a_list(path: Path) -> None:
    write_model(path, bitnet(path), CONFIG | {"quantization_config": []})


def packed_for_mlx(path: Path) -> None:
    settings = {"bits": 2, "group_size": 128}
    write_model(path, dense(), CONFIG | {"quantization": settings}, quantization=settings)


def a_part_of_a_fused_layer(path: Path) -> None:
    skipped = {"modules_to_not_convert": ["model.layers.0.self_attn.q_proj"]}
    tensors = packed(path)
    for name in list(tensors):
        if "layers.0.self_attn.q_proj" in name:
            del tensors[name]
    tensors["model.layers.0.self_attn.q_proj.weight"] = torch.ones(64, 64)
    write_model(path, tensors, quantization=PACKED | skipped)


def a_part_of_a_fused_layer_in_planes(path: Path) -> None:
    skipped = {"modules_to_not_convert": ["lm_head", "model.layers.0.self_attn.q_proj"]}
    tensors = bitnet(path)
    tensors["model.layers.0.self_attn.q_proj.weight"] = torch.ones(64, 64)
    del tensors["model.layers.0.self_attn.q_proj.weight_scale"]
    write_model(path, tensors, quantization=BITNET | skipped)


def no_config(path: Path) -> None:
    write_model(path, dense())
    (path / "config.json").unlink()


def no_weights(path: Path) -> None:
    write_model(path, dense())
    (path / "model.safetensors").rename(path / "pytorch_model.bin")


def a_file(path: Path) -> None:
    path.write_text("not a model")


def nothing(path: Path) -> None:
    pass


@pytest.mark.parametrize(
    ("defect", "message"),
    [
        (code_three, f"{NAME}.weight_packed holds code 3 at row 7, column 10"),
        (code_three_in_planes, f"{NAME}.weight holds code 3 at row 39, column 2"),
        (int8_that_is_not_ternary, f"{NAME}.weight holds 2, which is not -1, 0 or 1, at row 7"),
        (float_weights_offline, "quantization_config means packed weights"),
        (missing_scale, f"{NAME}.weight_scale is missing"),
        (missing_packed_scale, f"{NAME}.weight_scale is missing"),
        (one_missing_int8_scale, f"{NAME}.weight_scale is missing, but others are there"),
        (doubled_scale, f"{NAME}.weight_scale stands twice"),
        (two_scales, f"{NAME}.weight_scale is F32 [2]"),
        (nan_scale, f"{NAME}.weight_scale holds nan"),
        (tiny_that_divides, "weight_scale is 1.0005271035279194e-42, too small to divide by"),
        (infinite_group_scale, f"{NAME}.weight_scale holds inf at 7"),
        (wrong_rows, f"{NAME}.weight has 31 packed rows"),
        (norms_in_projections, "use_rms_norm"),
        (packed_norm, "q_norm.weight is packed"),
        (nan_weight, f"{NAME}.weight holds nan at row 7, column 2"),
        (cut_off, "model.safetensors: cut off at 20000 bytes"),
        (cut_off_in_the_header, "model.safetensors: cut off in its header"),
        (empty_file, "not a safetensors file"),
        (missing_shard, "model-00002-of-00003.safetensors, which is missing"),
        (hadamard, "transform.hadamard_block_size asks for a Hadamard transform"),
        (other_method, "quantized with 'gptq'"),
        (packed_for_mlx, "is packed for MLX"),
        (a_part_of_a_fused_layer, "layers.0.self_attn.k_proj is ternary, but runs as one layer"),
        (
            a_part_of_a_fused_layer_in_planes,
            "layers.0.self_attn.k_proj is ternary, but runs as one layer",
        ),
        (quantization_in_a_word, "quantization_config is not an object"),
        (quantization_in_a_list, "quantization_config is not an object"),
        (no_config, "is not a model: it has no config.json"),
        (no_weights, "pytorch_model.bin must be saved as safetensors first"),
        (a_file, "is not a directory"),
        (nothing, "does not exist"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_one_line(
    defect: Callable[[Path], None],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    source, result = tmp_path / "source", tmp_path / "result"
    defect(source)
    no_model = defect in (no_config, a_file, nothing)
    assert convert(source, result) == (2 if no_model else 1)
    lines = [line for line in capsys.readouterr().err.splitlines() if "note:" not in line]
    lines = [line for line in lines if line.startswith("vllm-ternary: ")]
    assert len(lines) == 1
    assert lines[0].startswith("vllm-ternary: error: ") and message in lines[0]
    assert not list(tmp_path.glob("result*"))


def test_a_name_on_the_hub(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert convert("someone/a-model", tmp_path / "result") == 2
    assert "hf download someone/a-model --local-dir" in capsys.readouterr().err
    assert convert(tmp_path / "a-model", tmp_path / "result") == 2
    assert "hf download" not in capsys.readouterr().err


def test_an_existing_destination_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write_model(tmp_path / "source", ternary_values())
    result = tmp_path / "result"
    result.mkdir()
    (result / "mine").write_text("mine")
    assert convert(source, result) == 1
    assert f"{result} exists" in capsys.readouterr().err
    assert [file.name for file in result.iterdir()] == ["mine"]


def test_a_partial_directory_of_something_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write_model(tmp_path / "source", ternary_values())
    partial = tmp_path / "result.partial"
    partial.mkdir()
    (partial / "mine").write_text("mine")
    assert convert(source, tmp_path / "result") == 1
    assert "is in the way" in capsys.readouterr().err
    assert (partial / "mine").exists()


@pytest.mark.parametrize("quantization", [PACKED, BITNET], ids=["multiplies", "divides"])
def test_a_scale_of_zero_gives_zeros(quantization: dict[str, Any], tmp_path: Path) -> None:
    tensors = packed(tmp_path) if quantization is PACKED else bitnet(tmp_path)
    tensors[f"{NAME}.weight_scale"] = torch.zeros(1)
    source = write_model(tmp_path / "source", tensors, quantization=quantization)
    assert convert(source, tmp_path / "result") == 0
    scale = read_tensors(tmp_path / "result")[f"{NAME}.weight_scale"]
    assert scale.tolist() == [0]


def test_a_size_without_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        convert(tmp_path, tmp_path / "result", "--shard-size", "inf")
    assert "inf is no size such as 5GB" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["link", "mount"])
def test_an_empty_directory_that_cannot_be_replaced(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write_model(tmp_path / "source", ternary_values())
    (tmp_path / "empty").mkdir()
    if kind == "link":
        (tmp_path / "link").symlink_to("empty")
    else:
        monkeypatch.setattr(os.path, "ismount", lambda path: Path(path).name == "empty")
    result = tmp_path / ("link" if kind == "link" else "empty")
    assert convert(source, result) == 1
    assert f"{result} exists" in capsys.readouterr().err
    assert not list(tmp_path.glob("*.partial"))


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--rule", "best"), 2, "--rule best"),
        (("--rule", "threshold=-1"), 2, "--rule threshold=-1"),
        (("--rule", "twn=2"), 2, "--rule twn=2"),
        (("--scale", "group:48"), 2, "--scale group:48"),
        (("--scale", "group:128"), 1, "groups of 128 do not divide"),
        (("--keep", "no_proj"), 1, "has no such module"),
        (("--keep", "k_proj"), 1, "run as one layer"),
        (("--tokenizer", "."), 2, "--tokenizer is for GGUF files"),
        (("--from", "ternary"), 1, "holds no ternary weights"),
        (("--from", "bitnet"), 1, "does not say quant_method 'bitnet'"),
        (("--from", "int8"), 1, "has no ternary weights"),
        (("--to", "bitnet", "--activation", "a16"), 2, "--activation a16"),
        (("--to", "bitnet", "--format", "packed"), 2, "--format packed"),
        (("--from", "gguf"), 2, "is a directory; a .gguf file is expected"),
    ],
)
def test_options_that_do_not_fit(
    options: tuple[str, ...],
    code: int,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = write_model(tmp_path / "source", dense())
    assert convert(source, tmp_path / "result", *options) == code
    error = capsys.readouterr().err
    assert error.splitlines()[-1].startswith("vllm-ternary: error: ")
    assert message in error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source"]


def test_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import errno

    from vllm.ternary import writer

    source = write_model(tmp_path / "source", ternary_values())
    written = 0
    write_all = writer.write_all

    def write(file: Any, data: Any) -> None:
        nonlocal written
        written += len(data)
        if written > 5000:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write_all(file, data)

    monkeypatch.setattr(writer, "write_all", write)
    assert convert(source, tmp_path / "result") == 1
    assert "no space left" in capsys.readouterr().err
    assert not (tmp_path / "result").exists()

    monkeypatch.undo()
    assert convert(source, tmp_path / "result") == 0
    assert convert(source, tmp_path / "other") == 0
    names = {path.name for path in (tmp_path / "result").iterdir()}
    for name in names:
        both = [(tmp_path / where / name).read_bytes() for where in ("result", "other")]
        assert both[0] == both[1], name


def test_a_disk_that_is_too_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import shutil

    source = write_model(tmp_path / "source", ternary_values())
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    assert convert(source, tmp_path / "result") == 1
    assert "GiB left" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source"]


def test_a_header_that_names_a_tensor_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write_model(tmp_path / "source", dense())
    entry = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
    text = f'{{"w": {json.dumps(entry)}, "w": {json.dumps(entry)}}}'.encode()
    data = len(text).to_bytes(8, "little") + text + bytes(4)
    (source / "model.safetensors").write_bytes(data)
    assert convert(source, tmp_path / "result") == 1
    assert "holds w twice" in capsys.readouterr().err


def test_a_file_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import errno

    source = write_model(tmp_path / "source", dense())

    def read_text(path: Path) -> str:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(Path, "read_text", read_text)
    assert convert(source, tmp_path / "result") == 1
    config = source / "config.json"
    assert capsys.readouterr().err == f"vllm-ternary: error: {config}: Permission denied\n"


def test_config_is_kept(tmp_path: Path) -> None:
    source = write_model(tmp_path / "source", ternary_values())
    assert convert(source, tmp_path / "result") == 0
    config = read_config(tmp_path / "result")
    del config["quantization_config"]
    assert config == CONFIG
    assert (tmp_path / "result/tokenizer_config.json").exists()
