# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The try-out's requirements are locked by version and hash, and hold nothing for GPUs."""

import re

from packaging.requirements import Requirement

from overlay.tryout import LOCK


def _entries() -> list[str]:
    text = LOCK.read_text().replace("\\\n", " ")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def test_version_and_hash() -> None:
    assert len(_entries()) > 100
    for entry in _entries():
        requirement = Requirement(entry.split("--hash")[0].strip())
        assert re.fullmatch(r"==[^*]+", str(requirement.specifier)), entry
        assert "--hash=sha256:" in entry, entry


def test_no_gpu() -> None:
    names = {Requirement(entry.split("--hash")[0].strip()).name for entry in _entries()}
    assert not {name for name in names if name.startswith(("nvidia", "cuda", "torch", "triton"))}
    assert {"transformers", "numpy", "compressed-tensors", "sympy"} <= names


def test_no_place() -> None:
    assert not re.search(r"https?:|file:|index-url|find-links", LOCK.read_text())
