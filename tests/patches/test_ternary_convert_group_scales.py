# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Scales of groups that a rule makes are bfloat16, whatever the type of the weights."""

import json
from pathlib import Path

import pytest

pytest.importorskip("vllm")

import torch
from ternary_directories import (
    Tensors,
    convert,
    dense,
    dequantize,
    projections,
    read_tensors,
    unpack,
    write_model,
)

GROUP = 32
NAME = "model.layers.0.mlp.up_proj"


def parts(weight: torch.Tensor) -> torch.Tensor:
    """[rows, groups, GROUP]"""
    return weight.float().unflatten(1, (-1, GROUP))


def converted(tensors: Tensors, folder: Path, *options: str) -> dict[str, Tensors]:
    """Codes [N, K] and scale of each matrix."""
    source = write_model(folder / "source", tensors)
    assert convert(source, folder / "result", "--from", "dense", *options) == 0
    result = read_tensors(folder / "result")
    return {
        name: {
            "codes": unpack(result[f"{name}.weight_packed"], size[1]),
            "scale": result[f"{name}.weight_scale"],
        }
        for name, size in projections().items()
    }


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
@pytest.mark.parametrize("rule", ["absmean", "twn", "l2", "threshold=0.05"])
def test_scale_is_the_best_one_rounded(rule: str, dtype: torch.dtype, tmp_path: Path) -> None:
    tensors = dense(dtype=dtype)
    for name, found in converted(tensors, tmp_path, "--rule", rule, "--scale", "group:32").items():
        size = parts(tensors[f"{name}.weight"]).abs()
        kept = parts(found["codes"]).bool() | (rule == "absmean")
        mean = (size * kept).sum(-1) / kept.sum(-1)
        assert found["scale"].dtype == torch.bfloat16
        # Rounding moves it by 2^-8 at most; l2 then keeps what is best with the one that is left.
        step = 0.008 if rule == "l2" else 0.004
        torch.testing.assert_close(found["scale"].float(), mean, rtol=step, atol=0)
        # A model that runs in float16 has them exactly, too.
        assert torch.equal(found["scale"].half().float(), found["scale"].float())


def test_report_counts_the_rounding(tmp_path: Path) -> None:
    tensors = dense()
    found = converted(tensors, tmp_path, "--rule", "twn", "--scale", "group:32")
    report = json.loads((tmp_path / "result/ternary_report.json").read_text())
    for name, matrix in found.items():
        weight = tensors[f"{name}.weight"].double()
        error = dequantize(matrix["codes"], matrix["scale"]).double() - weight
        relative = float(error.square().sum() / weight.square().sum())
        assert report["layers"][name]["weight_error"] == pytest.approx(relative, rel=1e-6)


@pytest.mark.parametrize("kind", ["tensor", "channel"])
def test_others_are_float32(kind: str, tmp_path: Path) -> None:
    found = converted(dense(), tmp_path, "--scale", kind)
    assert {matrix["scale"].dtype for matrix in found.values()} == {torch.float32}


@pytest.mark.parametrize(
    ("dtype", "size"), [(torch.float16, 2.0**-24), (torch.float32, 1e-30)], ids=["half", "single"]
)
def test_weights_below_the_range_of_float16_are_kept(
    dtype: torch.dtype, size: float, tmp_path: Path
) -> None:
    tensors = dense(dtype=dtype)
    sign = tensors[f"{NAME}.weight"].sign()
    tensors[f"{NAME}.weight"] = sign * size
    found = converted(tensors, tmp_path, "--rule", "l2", "--scale", "group:32")[NAME]
    assert torch.equal(found["codes"].float(), sign.float())
    torch.testing.assert_close(
        found["scale"].float(), torch.full((128, 2), size), rtol=0.004, atol=0
    )


def test_a_scale_that_bfloat16_does_not_reach_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tensors = dense(dtype=torch.float32)
    tensors[f"{NAME}.weight"][5, 40] = torch.finfo(torch.float32).max
    source = write_model(tmp_path / "source", tensors)
    assert convert(source, tmp_path / "result", "--scale", "group:32") == 1
    # Of 128 rows with two groups each, the second of row 5.
    assert f"{NAME}.weight_scale holds inf at 11;" in capsys.readouterr().err
    assert not (tmp_path / "result").exists()
