# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Checkpoints and servers that the tests share; each is made when a test first asks for it."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bitnet_variants
import pytest
from scripts import results, run
from server import Server, serve
from texts import TEXTS

HERE = Path(__file__).parent
MAKER = HERE.parent / "models" / "ternary_checkpoints.py"

VARIANTS = [
    "group",
    "group-dense",
    "group-packed",
    "group-int8-activations",
    "group-sign-flipped",
    "plain",
    "plain-dense",
    "tensor",
    "tensor-dense",
    "channel",
    "channel-dense",
    "bad-group-size",
    "bad-nan-scale",
    "bad-tensor-parallel-cut",
]


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """An empty cache for vLLM, so that what it compiled for an earlier run hides nothing."""
    os.environ["VLLM_CACHE_ROOT"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def checkpoints(tryout_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with a checkpoint for each of VARIANTS."""
    folder = tmp_path_factory.mktemp("checkpoints")
    run(tryout_python, MAKER, folder, *VARIANTS)
    return folder


@pytest.fixture(scope="session")
def offline(tryout_python: Path, checkpoints: Path) -> dict[str, dict[str, Any]]:
    """For each variant that needs one process, the token_ids of TEXTS, or the error."""
    paths = [checkpoints / name for name in VARIANTS if "parallel" not in name]
    prompts = json.dumps([text.prompt for text in TEXTS])
    output = run(tryout_python, HERE / "generate.py", prompts, *paths)
    found = results(output)
    assert len(found) == len(paths), output
    return {result["name"]: result for result in found}


@pytest.fixture(scope="session")
def bitnet_checkpoints(tryout_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with all the BitNet checkpoints."""
    folder = tmp_path_factory.mktemp("bitnet-checkpoints")
    bitnet_variants.make(tryout_python, folder)
    return folder


@pytest.fixture(scope="session")
def bitnet(tryout_python: Path, bitnet_checkpoints: Path) -> dict[str, dict[str, Any]]:
    """For each of them the tokens it gives and those expected, or the error."""
    return bitnet_variants.continue_tokens(
        tryout_python, bitnet_checkpoints, bitnet_variants.VARIANTS
    )


@pytest.fixture(scope="session")
def ternary_server(
    tryout_python: Path, checkpoints: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """The ternary checkpoint served as users do, which compiles it."""
    folder = tmp_path_factory.mktemp("ternary-server")
    with serve(
        tryout_python,
        checkpoints / "group",
        folder / "log",
        VLLM_CACHE_ROOT=str(folder / "cache"),
    ) as server:
        yield server


@pytest.fixture(scope="session")
def dense_server(
    tryout_python: Path, checkpoints: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """The same weights, dequantized."""
    log = tmp_path_factory.mktemp("dense-server") / "log"
    with serve(tryout_python, checkpoints / "group-dense", log, "--enforce-eager") as server:
        yield server
