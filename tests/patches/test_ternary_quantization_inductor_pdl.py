# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Programmatic dependent launch in inductor's kernels is refused where the ternary kernels run."""

from collections.abc import Callable

import pytest

pytest.importorskip("vllm")

from ternary_layers import column, make_config
from ternary_stand_in import use_stand_in
from torch._inductor import config as inductor_config
from vllm.config import CompilationConfig, VllmConfig, set_current_vllm_config
from vllm.model_executor.layers.quantization import ternary

KEY = "triton.enable_pdl"


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch, tensor_parallel: Callable[[int, int], None]) -> None:
    use_stand_in(monkeypatch)


def test_by_environment(kernels: None) -> None:
    with (
        inductor_config.patch({KEY: True}),
        pytest.raises(ValueError, match="unset TORCHINDUCTOR_ENABLE_PDL"),
    ):
        column(make_config(), 32, 64)


@pytest.mark.parametrize("environment", [False, True])
@pytest.mark.parametrize("option", [False, True])
def test_the_option_is_before_the_environment(
    kernels: None, option: bool, environment: bool
) -> None:
    config = VllmConfig(compilation_config=CompilationConfig(inductor_compile_config={KEY: option}))
    with inductor_config.patch({KEY: environment}), set_current_vllm_config(config):
        if option:
            with pytest.raises(ValueError, match=r"triton\.enable_pdl"):
                column(make_config(), 32, 64)
        else:
            column(make_config(), 32, 64)


def test_without_the_kernels(
    monkeypatch: pytest.MonkeyPatch, tensor_parallel: Callable[[int, int], None]
) -> None:
    monkeypatch.setattr(ternary.current_platform, "is_cuda", lambda: False)
    with inductor_config.patch({KEY: True}):
        column(make_config(), 32, 64)
