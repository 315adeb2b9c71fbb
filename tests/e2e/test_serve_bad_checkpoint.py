# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A server whose checkpoint is bad ends, and its output holds one line that names the fault."""

from pathlib import Path

import pytest
from server import serve_and_fail

pytestmark = pytest.mark.slow


def lines_with(text: str, output: str) -> list[str]:
    return [line for line in output.splitlines() if text in line]


@pytest.mark.parametrize(
    ("variant", "fault"),
    [
        ("bad-group-size", "quantization_config: group_size is 100; it must be a multiple of 32"),
        (
            "bad-nan-scale",
            "model.layers.0.mlp.down_proj.weight_scale holds nan at [3, 1]; scales must be finite.",
        ),
    ],
)
def test_one_process(
    tryout_python: Path, checkpoints: Path, tmp_path: Path, variant: str, fault: str
) -> None:
    code, output = serve_and_fail(
        tryout_python, checkpoints / variant, tmp_path / "log", "--enforce-eager"
    )

    assert code != 0
    assert lines_with(fault, output), output


def test_tensor_parallel_cut_through_a_group(
    tryout_python: Path, checkpoints: Path, tmp_path: Path
) -> None:
    code, output = serve_and_fail(
        tryout_python,
        checkpoints / "bad-tensor-parallel-cut",
        tmp_path / "log",
        "--enforce-eager",
        "--tensor-parallel-size=2",
        VLLM_CPU_OMP_THREADS_BIND="0|1",
    )

    assert code != 0
    fault = (
        "model.layers.0.self_attn.o_proj: tensor parallel size 2 cuts its 256 input channels "
        "into parts of 128, which splits scale groups of 256"
    )
    assert lines_with(fault, output), output
