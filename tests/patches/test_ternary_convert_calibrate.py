# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Conversion with a text: layers one after the other, and perplexity before and after."""

import json
import logging
from pathlib import Path

import pytest

pytest.importorskip("vllm")

import torch
from ternary_directories import (
    CONFIG,
    Tensors,
    convert,
    dense,
    one_thread,
    projections,
    read_tensors,
    read_weight,
    ternary_values,
    write_model,
)

SENTENCE = "the river carries gravel down until its slope becomes gentle and then it rests"
WORDS = SENTENCE.split()
TEXT = " ".join(WORDS[i * i % len(WORDS)] for i in range(1500))


def add_tokenizer(path: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = {word: i for i, word in enumerate(sorted(set(WORDS)))}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token=WORDS[0]))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer).save_pretrained(path)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    return path


def model(path: Path, arch: str = "llama") -> Tensors:
    """Random, but for an lm_head that gives probabilities which are not all alike."""
    config = CONFIG | {"dtype": "float32"}
    tensors = dense(config, torch.float32)
    tensors["lm_head.weight"] *= 0.25
    if arch == "qwen3":
        config |= {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3"}
        for layer in range(2):
            for part in "qk":
                name = f"model.layers.{layer}.self_attn.{part}_norm.weight"
                tensors[name] = torch.rand(16) + 0.5
    write_model(path, tensors, config)
    add_tokenizer(path)
    return tensors


@one_thread()
def perplexity(path: Path, tensors: Tensors) -> float:
    """Of the last fifth of the text in sequences of 150, as transformers computes it."""
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    config = AutoConfig.from_pretrained(path)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    model.load_state_dict(tensors)
    tokens = torch.tensor(AutoTokenizer.from_pretrained(path)(TEXT)["input_ids"])
    with torch.no_grad():
        held_out = tokens.reshape(10, 150)[8:]
        loss: torch.Tensor = model(held_out, labels=held_out).loss
    return float(loss.exp())


@pytest.mark.parametrize("arch", ["llama", "qwen3"])
def test_perplexity_before_and_after(arch: str, text: Path, tmp_path: Path) -> None:
    source = tmp_path / "source"
    tensors = model(source, arch)
    assert convert(source, tmp_path / "result", "--calibrate", text, "--scale", "group:32") == 0
    report = json.loads((tmp_path / "result/ternary_report.json").read_text())

    result = read_tensors(tmp_path / "result")
    after = dict(tensors)
    for name, size in projections().items():
        after[f"{name}.weight"] = read_weight(result, name, size[1])
        assert result[f"{name}.weight_scale"].dtype == torch.bfloat16
    found = report["perplexity"]
    assert found["tokens"] == 2 * 149
    assert found["before"] == pytest.approx(perplexity(source, tensors), rel=1e-4)
    assert found["after"] == pytest.approx(perplexity(source, after), rel=1e-3)
    assert abs(found["before"] - found["after"]) > 0.01


@pytest.mark.parametrize("kind", ["tensor", "channel", "group:32"])
def test_outputs_come_closer(kind: str, text: Path, tmp_path: Path) -> None:
    source = tmp_path / "source"
    tensors = model(source)
    assert convert(source, tmp_path / "plain", "--scale", kind) == 0
    assert convert(source, tmp_path / "fed", "--scale", kind, "--calibrate", text) == 0
    report = json.loads((tmp_path / "fed/ternary_report.json").read_text())
    assert all(layer["output_error"] < 0.35 for layer in report["layers"].values())
    errors = {}
    for result in ("plain", "fed"):
        found = read_tensors(tmp_path / result)
        after = {
            f"{name}.weight": read_weight(found, name, size[1])
            for name, size in projections().items()
        }
        errors[result] = logits_error(source, tensors, tensors | after)
    assert errors["fed"] < 0.8 * errors["plain"]


@one_thread()
def logits_error(path: Path, before: Tensors, after: Tensors) -> float:
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    tokens = torch.tensor(AutoTokenizer.from_pretrained(path)(TEXT)["input_ids"])
    found = []
    for tensors in (before, after):
        config = AutoConfig.from_pretrained(path)
        model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
        model.load_state_dict(tensors)
        with torch.no_grad():
            found.append(model(tokens.reshape(10, 150)[8:]).logits)
    return float((found[0] - found[1]).square().mean())


def test_interrupted_at_each_layer(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vllm.ternary.calibrate import Calibrator

    source = tmp_path / "source"
    model(source)
    options = ("--calibrate", text, "--scale", "channel")
    assert convert(source, tmp_path / "whole", *options) == 0
    run = Calibrator._run_layer
    layers: list[int] = []

    def interrupted(self: Calibrator, index: int) -> object:
        layers.append(index)
        result = run(self, index)
        if len(layers) in (1, 3):
            raise KeyboardInterrupt
        return result

    monkeypatch.setattr(Calibrator, "_run_layer", interrupted)
    assert convert(source, tmp_path / "result", *options) == 130
    assert convert(source, tmp_path / "result", *options) == 130
    assert convert(source, tmp_path / "result", *options) == 0
    assert layers == [0, 0, 1, 1]
    names = {file.name for file in (tmp_path / "whole").iterdir()}
    assert names == {file.name for file in (tmp_path / "result").iterdir()}
    for name in names:
        both = [(tmp_path / where / name).read_bytes() for where in ("whole", "result")]
        assert both[0] == both[1], name


def test_kept_modules_stay(text: Path, tmp_path: Path) -> None:
    source = tmp_path / "source"
    tensors = model(source)
    options = ("--calibrate", text, "--keep", "model.layers.1")
    assert convert(source, tmp_path / "result", *options) == 0
    result = read_tensors(tmp_path / "result")
    for name in projections():
        kept = ".1." in name
        assert (f"{name}.weight" in result) is kept
        if kept:
            assert torch.equal(result[f"{name}.weight"], tensors[f"{name}.weight"])


def test_a_text_longer_than_the_model_is_no_warning(
    text: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    from transformers import AutoTokenizer, PreTrainedTokenizerBase

    source = tmp_path / "source"
    model(source)
    config = source / "tokenizer_config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"model_max_length": 256}))
    tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(source)
    logger = logging.getLogger("transformers")
    logger.addHandler(caplog.handler)
    try:
        tokenizer(TEXT)
        assert "longer than the specified maximum" in caplog.text
        caplog.clear()
        assert convert(source, tmp_path / "result", "--calibrate", text) == 0
    finally:
        logger.removeHandler(caplog.handler)
    assert caplog.text == ""


@pytest.mark.parametrize(
    ("defect", "code", "message"),
    [
        ("short", 2, "160 are the least"),
        ("missing", 2, "No such file"),
        ("binary", 2, "is not UTF-8"),
        ("no tokenizer", 1, "no tokenizer in"),
        ("ternary", 1, "there is nothing to choose"),
        ("unknown architecture", 1, "transformers cannot run"),
    ],
)
def test_refused(
    defect: str,
    code: int,
    message: str,
    text: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = tmp_path / "source"
    model(source)
    if defect == "short":
        text.write_text("the river rests")
    elif defect == "missing":
        text.unlink()
    elif defect == "binary":
        text.write_bytes(b"\xff\xfe\x00")
    elif defect == "no tokenizer":
        (source / "tokenizer.json").unlink()
        (source / "tokenizer_config.json").unlink()
    elif defect == "ternary":
        source = write_model(tmp_path / "ternary", ternary_values())
    else:
        config = json.loads((source / "config.json").read_text())
        (source / "config.json").write_text(json.dumps(config | {"model_type": "unheard"}))
    assert convert(source, tmp_path / "result", "--calibrate", text) == code
    assert message in capsys.readouterr().err
    assert not list(tmp_path.glob("result*"))
