# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What tests of the patches share. They skip where the Python that runs them has no vLLM."""

import contextlib
import importlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

GPU = False
if importlib.util.find_spec("torch") is not None:
    import torch

    GPU = torch.cuda.is_available()
    if not GPU:
        # vLLM takes its platform from the environment when it is first imported.
        os.environ.setdefault("VLLM_TARGET_DEVICE", "cpu")
    # vLLM registers the fakes of the operators it finds when it is first imported, and its CPU
    # platform does not import the CUDA extensions.
    with contextlib.suppress(ImportError):
        importlib.import_module("vllm._ternary_C")


@pytest.fixture
def tensor_parallel(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int], None]:
    """Pretend to be a rank: `tensor_parallel(rank, size)` for the layers made after it."""
    from vllm.model_executor import parameter
    from vllm.model_executor.layers import linear, vocab_parallel_embedding

    def pretend(rank: int, size: int) -> None:
        for module in (parameter, linear, vocab_parallel_embedding):
            monkeypatch.setattr(
                module, "get_tensor_model_parallel_rank", lambda: rank, raising=False
            )
            monkeypatch.setattr(
                module, "get_tensor_model_parallel_world_size", lambda: size, raising=False
            )

    pretend(0, 1)
    return pretend


@pytest.fixture(params=[pytest.param("cuda", marks=pytest.mark.gpu) if GPU else "cpu"])
def device(
    request: pytest.FixtureRequest, tensor_parallel: Callable[[int, int], None]
) -> Iterator[str]:
    """Device of the layers a test makes: on a GPU they use the kernel, on a CPU PyTorch."""
    with torch.device(request.param):
        yield request.param


@pytest.fixture(scope="session")
def bitnet_checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with three BitNet checkpoints, and beside each what Transformers makes of it."""
    folder = tmp_path_factory.mktemp("bitnet-checkpoints")
    maker = Path(__file__).parent.parent / "models" / "bitnet_checkpoints.py"
    command = [sys.executable, maker, folder, "bitnet-0", "bitnet-1", "bitnet-2"]
    subprocess.run([str(part) for part in command], check=True, capture_output=True)
    return folder
