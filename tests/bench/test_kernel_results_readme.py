# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""bench/results/README.md says how many rows were kept, and has the rates of docs/kernels.md."""

import re

import kernel_docs

README = (kernel_docs.ROOT / "bench" / "results" / "README.md").read_text()


def test_rows() -> None:
    assert f"\nkernels-h200.json, {len(kernel_docs.rows()):,} rows," in README


def test_rates() -> None:
    measured = re.findall(r"measured\s+([\d.]+) TB/s\s.*?\s(\d+) TFLOP/s", README, re.DOTALL)
    command = re.findall(
        r"kernel_goals\.py\s+bench/results/kernels-h200\.json\s+([\d.]+)\s+(\d+)", README
    )
    for tb_s, tflop_s in (*measured, *command):
        assert (float(tb_s), float(tflop_s)) == kernel_docs.rates()
    assert len(measured) == len(command) == 1
