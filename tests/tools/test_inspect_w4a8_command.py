# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The command: what it prints, its exit codes, and one line for a wrong input."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("numpy")

from checkpoints import layer, scales, write

Run = Callable[..., "subprocess.CompletedProcess[str]"]
DOWN = "model.layers.0.mlp.down_proj"


def test_affected(run_inspect: Run, tmp_path: Path) -> None:
    write(tmp_path, "gptq", {DOWN: layer("gptq", scales(negative=0.25))})
    result = run_inspect(tmp_path)
    assert result.returncode == 1, result.stderr
    assert "25.0% of 128 scales negative" in result.stdout
    assert "vLLM 0.32.0: garbage: negative scales" in result.stdout
    assert result.stdout.endswith("Affected: yes\n")


def test_not_affected_as_json(run_inspect: Run, tmp_path: Path) -> None:
    write(tmp_path, "gptq", {DOWN: layer("gptq", scales())})
    result = run_inspect(tmp_path, "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["affected"] is False


def no_safetensors(folder: Path) -> None:
    for file in folder.glob("*.safetensors"):
        file.unlink()


def cut_header(folder: Path) -> None:
    (file,) = folder.glob("*.safetensors")
    file.write_bytes(file.read_bytes()[:40])


def cut_data(folder: Path) -> None:
    (file,) = folder.glob("*.safetensors")
    file.write_bytes(file.read_bytes()[:-3000])


def not_quantized(folder: Path) -> None:
    (folder / "config.json").write_text("{}")


def fp8(folder: Path) -> None:
    (folder / "config.json").write_text('{"quantization_config": {"quant_method": "fp8"}}')


def not_json(folder: Path) -> None:
    (folder / "config.json").write_text("<html>")


def no_text_config(folder: Path) -> None:
    (folder / "config.json").write_text('{"text_config": "none"}')


def dangling_link(folder: Path) -> None:
    (folder / "model-00001.safetensors").symlink_to(folder / "blob")


def no_scales(folder: Path) -> None:
    tensors = layer("gptq", scales())
    del tensors["scales"]
    write(folder, "gptq", {DOWN: tensors})


def no_low_bit(folder: Path) -> None:
    write(folder, "gptq", {DOWN: {"weight": scales()}})


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (no_safetensors, "no *.safetensors"),
        (cut_header, "cut short"),
        (cut_data, "ends within a tensor"),
        (not_quantized, "no quantization_config"),
        (fp8, "quant_method 'fp8'"),
        (not_json, "config.json"),
        (no_text_config, "no quantization_config"),
        (dangling_link, "model-00001.safetensors"),
        (no_scales, "has no scales"),
        (no_low_bit, "no packed low-bit weights"),
    ],
)
def test_wrong_input(
    run_inspect: Run, tmp_path: Path, damage: Callable[[Path], None], message: str
) -> None:
    write(tmp_path, "gptq", {DOWN: layer("gptq", scales())})
    damage(tmp_path)
    result = run_inspect(tmp_path)
    assert result.returncode == 2
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ") and message in line


def test_no_folder(run_inspect: Run, tmp_path: Path) -> None:
    result = run_inspect(tmp_path / "model")
    assert result.returncode == 2
    assert "not a folder" in result.stderr


def test_invalid_regular_expression(
    monkeypatch: pytest.MonkeyPatch, run_inspect: Run, tmp_path: Path
) -> None:
    monkeypatch.setenv("VLLM_MARLIN_INT8_EXCLUDE_RE", "(")
    write(tmp_path, "gptq", {DOWN: layer("gptq", scales())})
    result = run_inspect(tmp_path)
    assert result.returncode == 2
    assert result.stderr.startswith("error: VLLM_MARLIN_INT8_EXCLUDE_RE: ")
