# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A vLLM without kernels for CPUs is named in one line where a CPU is asked for."""

import sys
from pathlib import Path

import pytest
from needs import need_cpu_kernels


@pytest.fixture
def vllm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package in place of vLLM, with what the wheel for GPUs has."""
    folder = tmp_path / "vllm"
    folder.mkdir()
    for name in ("__init__.py", "_C_stable_libtorch.abi3.so"):
        (folder / name).touch()
    monkeypatch.delitem(sys.modules, "vllm", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    return folder


def test_for_gpus(vllm: Path) -> None:
    with pytest.raises(SystemExit) as refused:
        need_cpu_kernels()
    assert str(refused.value) == (
        "error: VLLM_TARGET_DEVICE is cpu, but this Python's vLLM has no kernels for CPUs: "
        "take that of a CPU try-out"
    )


def test_for_cpus(vllm: Path) -> None:
    (vllm / "_C.abi3.so").touch()
    need_cpu_kernels()
