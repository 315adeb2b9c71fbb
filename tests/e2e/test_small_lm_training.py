# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The scripts that made the trained model still make one, which transformers loads."""

import json
import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

BENCH = Path(__file__).parents[2] / "bench"
LEARNT = ["argparse.py", "ast.py", "inspect.py", "subprocess.py", "typing.py"]
HELD_OUT = ["heapq.py", "sched.py", "textwrap.py"]
SHAPE = {
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
}


def run(python: Path, script: str, *arguments: object) -> str:
    process = subprocess.run(
        [str(python), str(BENCH / script), *map(str, arguments)],
        capture_output=True,
        text=True,
        # One thread: these tensors are so small that more threads only wait for each other.
        env=os.environ | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


def test_trained_model_is_better_than_chance(tryout_python: Path, tmp_path: Path) -> None:
    library, data, out = (tmp_path / name for name in ("library", "data", "out"))
    library.mkdir()
    for name in LEARNT + HELD_OUT:
        shutil.copy(Path(sysconfig.get_paths()["stdlib"]) / name, library)

    options = ["--device", "cpu", "--no-compile", "--batch", 8, "--length", 64]
    run(tryout_python, "small_lm/prepare.py", "--stdlib", library, "--version", "x", "--out", data)
    run(
        tryout_python,
        "small_lm/train.py",
        *("--data", data, "--out", out, "--steps", 40, "--shape", json.dumps(SHAPE), *options),
    )
    output = run(
        tryout_python,
        "perplexity.py",
        *(out / "ternary", "--engine", "transformers", "--text", library / HELD_OUT[0]),
    )

    vocabulary = json.loads((data / "corpus.json").read_text())["vocab_size"]
    report = json.loads((out / "train.json").read_text())
    measured = json.loads(output.splitlines()[-1])["perplexity"]
    assert report["ternary"]["perplexity"] < vocabulary / 2
    assert measured < vocabulary / 2
