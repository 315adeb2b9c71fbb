# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What is left of an ordinary model that is made ternary: weight error and perplexity by rule.

    python bench/ternary_quality.py MODEL TEXT --out bench/results/ternary-quality.json

MODEL is a floating point model directory, TEXT a file of the kind it was trained on. Each row is a
conversion by `vllm-ternary convert`; the perplexity is that of the result's values in transformers,
on the part of the text that calibration does not use. Run with the Python of an environment that
has the built wheel.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from needs import need, need_folder

need("torch", "vllm")

import torch
from transformers import AutoConfig, AutoModelForCausalLM
from vllm.ternary.calibrate import Calibration, tokenize
from vllm.ternary.checkpoint import Checkpoint
from vllm.ternary.errors import TernaryError
from vllm.ternary.outputs import dequantized
from vllm.ternary.safetensors_io import DTYPES
from vllm.ternary.sources.native import open_matrix, read_settings, ternary_modules

# Rule, scale, calibrated.
ROWS = [
    ("absmean", "tensor", False),
    ("absmean", "group:128", False),
    ("twn", "group:128", False),
    ("l2", "channel", False),
    ("l2", "group:128", False),
    ("l2", "group:32", False),
    ("l2", "channel", True),
    ("l2", "group:128", True),
    ("l2", "group:32", True),
]


def load_tensors(path: Path) -> dict[str, torch.Tensor]:
    """The tensors of a model in float32, ternary ones by their values."""
    checkpoint = Checkpoint(path)
    tensors = {}
    ternary: list[str] = []
    if checkpoint.quantization is not None:
        settings = read_settings(checkpoint)
        ternary = ternary_modules(checkpoint, settings)
        for name in ternary:
            output = dequantized(open_matrix(checkpoint, name, settings))
            data = bytearray().join(output.pieces())
            weight = torch.frombuffer(data, dtype=DTYPES[output.dtype]).reshape(output.shape)
            tensors[output.name] = weight.float()
    for name, info in checkpoint.tensors.items():
        if name.rpartition(".")[0] not in ternary or name.endswith(".bias"):
            tensors[name] = checkpoint.reader.rows(info).float()
    return tensors


def perplexity(path: Path, tokens: torch.Tensor) -> float:
    """Of sequences [sequences, length]."""
    config = AutoConfig.from_pretrained(path)
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    model.load_state_dict(load_tensors(path), strict=not config.tie_word_embeddings)
    model = model.to(device).eval()
    losses = []
    with torch.no_grad():
        for sequence in tokens.to(device).split(1):
            losses.append(float(model(sequence, labels=sequence).loss))
    return math.exp(sum(losses) / len(losses))


def convert(model: Path, text: Path, rule: str, scale: str, calibrated: bool) -> dict[str, Any]:
    """One row."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result"
        command = [
            sys.executable, "-m", "vllm.ternary", "convert", str(model), str(result),
            "--from", "dense", "--rule", rule, "--scale", scale, "--json",
        ]  # fmt: skip
        if calibrated:
            command += ["--calibrate", str(text)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        report = json.loads(done.stdout)
        _, held_out = tokenize(model, Calibration(text).read())
        errors = [layer["weight_error"] for layer in report["layers"].values()]
        return {
            "rule": rule,
            "scale": scale,
            "calibrated": calibrated,
            "weight_error": round(sum(errors) / len(errors), 6),
            "perplexity": round(perplexity(result, held_out), 6),
        }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("text", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    need_folder(parser, args.out)
    _, held_out = tokenize(args.model, Calibration(args.text).read())
    before = perplexity(args.model, held_out)
    print("| rule | scale | calibrated | weight error | perplexity |\n|---|---|---|---|---|")
    print(f"| (as it is) | | | 0 | {before:.2f} |")
    rows = []
    for rule, scale, calibrated in ROWS:
        row = convert(args.model, args.text, rule, scale, calibrated)
        rows.append(row)
        shown = f"{row['weight_error']:.3f} | {row['perplexity']:.2f}"
        print(f"| {rule} | {scale} | {'yes' if calibrated else 'no'} | {shown} |", flush=True)
    found = {
        "model": args.model.name,
        "text": args.text.name,
        "tokens": held_out[:, 1:].numel(),
        "perplexity_before": round(before, 6),
        "rows": rows,
    }
    args.out.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except TernaryError as fault:
        sys.exit(f"error: {fault}")
