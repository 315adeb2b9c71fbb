# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""vLLM samples by itself where FlashInfer's sampling kernels are missing and cannot be compiled."""

import os
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

pytest.importorskip("vllm")

import torch
from vllm.platforms.interface import DeviceCapability
from vllm.v1.sample.ops import topk_topp_sampler as sampler


def stand_in(monkeypatch: pytest.MonkeyPatch, name: str, **members: object) -> None:
    """A module that the environment of the tests lacks, with all of its parents."""
    parts = name.split(".")
    for length in range(1, len(parts) + 1):
        parent = ".".join(parts[:length])
        if length == len(parts) or parent not in sys.modules:
            module = ModuleType(parent)
            module.__path__ = []
            monkeypatch.setitem(sys.modules, parent, module)
    for member, value in members.items():
        setattr(sys.modules[name], member, value)


@pytest.fixture
def hopper(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A GPU that FlashInfer can compile for, in a machine without nvcc and ninja."""
    platform = SimpleNamespace(
        is_cuda=lambda: True,
        get_device_capability=lambda: DeviceCapability(9, 0),
        num_compute_units=lambda _: 132,
    )
    monkeypatch.setattr(sampler, "current_platform", platform)
    monkeypatch.setattr(torch.accelerator, "current_device_index", lambda: 0)
    backend = SimpleNamespace(supports_compute_capability=lambda _: True)
    stand_in(monkeypatch, "vllm.v1.attention.backends.flashinfer", FlashInferBackend=backend)
    stand_in(monkeypatch, "flashinfer.jit.core", check_cuda_arch=lambda: None)
    have_kernels(monkeypatch, False)
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    monkeypatch.delenv("VLLM_USE_FLASHINFER_SAMPLER", raising=False)


def have_kernels(monkeypatch: pytest.MonkeyPatch, compiled: bool) -> None:
    """Whether flashinfer-jit-cache has the sampling kernels."""
    spec = SimpleNamespace(is_aot=compiled)
    stand_in(monkeypatch, "flashinfer.jit.sampling", gen_sampling_module=lambda: spec)


def install(*programs: str) -> None:
    for program in programs:
        path = Path(os.environ["PATH"], program)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)


@pytest.mark.parametrize("programs", [(), ("nvcc",), ("ninja",)], ids=["neither", "nvcc", "ninja"])
def test_cannot_compile(hopper: None, programs: tuple[str, ...]) -> None:
    install(*programs)

    assert not sampler.flashinfer_sampler_supported()


def test_asked_for(hopper: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_USE_FLASHINFER_SAMPLER", "1")

    with pytest.raises(RuntimeError, match=r"nvcc .* or ninja .* is missing"):
        sampler.flashinfer_sampler_supported()


def test_can_compile(hopper: None) -> None:
    install("nvcc", "ninja")

    assert sampler.flashinfer_sampler_supported()


def test_is_compiled(hopper: None, monkeypatch: pytest.MonkeyPatch) -> None:
    have_kernels(monkeypatch, True)

    assert sampler.flashinfer_sampler_supported()
