# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The layer selection's variables: defaults, compile-cache key."""

import pytest

pytest.importorskip("vllm")

from vllm import envs

EXCLUDE, INCLUDE = "VLLM_MARLIN_INT8_EXCLUDE_RE", "VLLM_MARLIN_INT8_INCLUDE_RE"


def test_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(EXCLUDE, raising=False)
    monkeypatch.delenv(INCLUDE, raising=False)
    assert (getattr(envs, EXCLUDE), getattr(envs, INCLUDE)) == ("lm_head|mtp", "")


@pytest.mark.parametrize("name", [EXCLUDE, INCLUDE])
def test_part_of_the_compile_cache_key(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    before = envs.compile_factors()
    monkeypatch.setenv(name, "self_attn")
    after = envs.compile_factors()
    assert {key for key in after if before.get(key) != after[key]} == {name}
