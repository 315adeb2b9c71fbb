# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Memory does not grow with the model: a matrix of any size is read in pieces."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("vllm")

from ternary_directories import CONFIG, projections

# Of a peak, what is not there before the conversion.
SCRIPT = """
import sys
import torch
torch.set_num_threads(1)
from vllm.ternary import cli, convert

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

before = peak()
assert cli.main(["convert", *sys.argv[1:]]) == 0
print("peak", (peak() - before) // 1024)
"""


def write_zeros(path: Path, config: dict[str, object]) -> int:
    """A float32 model of zeros, sparse on the disk; its size in MiB."""
    sizes = projections(config)
    entries, offset = {}, 0
    for name, size in [*sizes.items(), ("model.embed_tokens", (32_000, config["hidden_size"]))]:
        nbytes = 4 * size[0] * size[1]
        entries[f"{name}.weight"] = {
            "dtype": "F32", "shape": size, "data_offsets": [offset, offset + nbytes]
        }  # fmt: skip
        offset += nbytes
    header = json.dumps(entries).encode()
    path.mkdir()
    (path / "config.json").write_text(json.dumps(config))
    with (path / "model.safetensors").open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + offset)
    return offset >> 20


@pytest.mark.parametrize(("kind", "matrices"), [("group:128", 0), ("tensor", 2)])
def test_peak(kind: str, matrices: int, tmp_path: Path) -> None:
    config = CONFIG | {
        "hidden_size": 2048, "intermediate_size": 8192, "head_dim": 512,
        "num_key_value_heads": 4,
    }  # fmt: skip
    size = write_zeros(tmp_path / "source", config)
    largest = 4 * 2048 * 8192 >> 20
    # One scale for a matrix is found with the whole of it sorted; else pieces are enough.
    allowed = 100 + matrices * largest
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, tmp_path / "source", tmp_path / "result",
         "--from", "dense", "--rule", "l2", "--scale", kind],
        capture_output=True,
        text=True,
        # What malloc keeps of freed blocks would differ from run to run, by up to 100 MiB.
        env=os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    peak = int(done.stdout.split()[-1])
    assert peak < allowed < size, f"{peak} MiB for a model of {size} MiB"
