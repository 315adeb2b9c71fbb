# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Each format's layers are found, counted, and told what int8 activations do to them."""

from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("numpy")

from checkpoints import GROUP, K, N, layer, scales, write

DOWN = "model.layers.{}.mlp.down_proj"
ZERO_POINTS = "int8, zero-point kernel"
SYMMETRIC = "int8, symmetric kernel"
FOLDED = "int8, zero-point kernel for the negative scales"


@pytest.mark.parametrize(
    ("kind", "negative", "zeros", "unpatched", "patched"),
    [
        ("compressed-tensors", 0.0, False, "int8, right", SYMMETRIC),
        ("compressed-tensors", 0.25, False, "garbage: negative scales", FOLDED),
        ("compressed-tensors", 0.0, True, "refused", ZERO_POINTS),
        ("gptq", 0.0, False, "int8, right", SYMMETRIC),
        ("gptq", 0.25, False, "garbage: negative scales", FOLDED),
        ("awq", 0.0, True, "refused", ZERO_POINTS),
        ("auto-round", 0.25, False, "16 bits: the variable is ignored", FOLDED),
    ],
)
def test_grouped(
    inspect_w4a8: ModuleType,
    tmp_path: Path,
    kind: str,
    negative: float,
    zeros: bool,
    unpatched: str,
    patched: str,
) -> None:
    tensors = layer(kind, scales(negative=negative), zeros=zeros)
    write(tmp_path, kind, {DOWN.format(i): tensors for i in range(2)})
    report = inspect_w4a8.inspect(tmp_path)
    assert report["quant_method"] == kind
    assert report["affected"] == (unpatched != "int8, right")
    assert report["rows"] == [
        {
            "layers": "model.layers.*.mlp.down_proj",
            "bits": 4,
            "group_size": GROUP,
            "symmetric": not zeros,
            "vllm_0_32_0": unpatched,
            "patched": patched,
            "count": 2,
            "scales": 2 * N * K // GROUP,
            "negative": 2 * round(N * negative) * K // GROUP,
            "tiny": 0,
        }
    ]


@pytest.mark.parametrize(
    ("kind", "bits", "groups", "config", "unpatched", "patched"),
    [
        (
            "compressed-tensors",
            4,
            1,
            {},
            "fails in the first forward pass",
            "int8, scales a channel",
        ),
        ("compressed-tensors", 8, 2, {}, "refused", "16 bits: no kernel for 8-bit weights"),
        ("gptq", 8, 2, {"bits": 8}, "refused", "16 bits: no kernel for 8-bit weights"),
        ("gptq", 4, 2, {"sym": False}, "not Marlin: GPTQ with zero points", None),
        (
            "gptq",
            4,
            1,
            {"group_size": -1},
            "fails in the first forward pass",
            "int8, scales a channel",
        ),
        ("gptq", 4, 16, {"group_size": 16}, "not Marlin: groups of 16", None),
        ("awq", 4, 2, {"zero_point": False}, "not Marlin: AWQ without zero points", None),
    ],
    ids=["channelwise", "8-bit", "gptq-8-bit", "gptq-asym", "gptq-channelwise", "g16", "awq-sym"],
)
def test_other_layers(
    inspect_w4a8: ModuleType,
    tmp_path: Path,
    kind: str,
    bits: int,
    groups: int,
    config: dict[str, object],
    unpatched: str,
    patched: str | None,
) -> None:
    write(tmp_path, kind, {DOWN.format(0): layer(kind, scales(groups), bits=bits)}, **config)
    (row,) = inspect_w4a8.inspect(tmp_path)["rows"]
    assert (row["vllm_0_32_0"], row["patched"]) == (unpatched, patched or unpatched)
    assert row["bits"] == bits


@pytest.mark.parametrize(("groups", "group_size"), [(1, -1), (4, K // 4)])
def test_groups_of_its_own_without_g_idx(
    inspect_w4a8: ModuleType, tmp_path: Path, groups: int, group_size: int
) -> None:
    """AutoRound stores no g_idx; the configuration's group size is not each layer's."""
    tensors = layer("auto-round", scales(groups))
    del tensors["g_idx"]
    config = {"group_size": -1} if groups == 1 else {}
    write(tmp_path, "auto-round", {DOWN.format(0): tensors}, **config)
    (row,) = inspect_w4a8.inspect(tmp_path)["rows"]
    assert (row["bits"], row["group_size"]) == (4, group_size)


def test_experts(inspect_w4a8: ModuleType, tmp_path: Path) -> None:
    tensors = layer("compressed-tensors", scales(negative=0.25))
    names = [
        f"model.layers.0.mlp.experts.{e}.{p}_proj" for e in range(2) for p in ("gate", "up", "down")
    ]
    write(tmp_path, "compressed-tensors", dict.fromkeys(names, tensors))
    rows = inspect_w4a8.inspect(tmp_path)["rows"]
    assert [(r["layers"], r["scales"]) for r in rows] == [
        ("model.layers.*.mlp.experts.w13", 4 * N * K // GROUP),
        ("model.layers.*.mlp.experts.w2", 2 * N * K // GROUP),
    ]
    assert {r["patched"] for r in rows} == {FOLDED}
    assert {r["vllm_0_32_0"] for r in rows} == {"wrong: the scales' common factor is lost"}
